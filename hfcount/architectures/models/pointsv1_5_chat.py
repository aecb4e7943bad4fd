"""POINTS-Reader: Qwen2-VL's tower, whose patches a projector of its own merges, and Qwen2 (arXiv:2412.08443)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import as_tower, rebased, shared_copy
from hfcount.architectures.layers.norms import layer_norm
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# points_v15_chat.py of sgl-project/sglang 0.5.23; vision/qwen2_vl_navit.py of WePOINTS/WePOINTS, whose tower has a
# merger that nothing reads
MODEL_TYPES = ("pointsv1.5_chat",)
CLASSES = ("POINTSV15ChatModel",)


def spec(c: Config) -> Spec:
    text = families.part(c, "llm_config", always="qwen2").replace(head="causal_lm")
    vision = families.part(c, "vision_config", always="qwen2_vl_vision")
    model = keys.composite(c, text, {"vision": vision}, key="llm_config", heads=keys.named(ChatModel="causal_lm"))
    return model.replace(tied=text.tied)


def blueprint(s: Spec) -> Block:
    tower = s.part("vision")
    d, merged = tower.hidden, tower.seen.merged(tower.hidden)
    encoder = families.tower(s, "vision")
    assert isinstance(encoder, Block)
    seen = {name: shared_copy(one) if name == "merger" else one for name, one in encoder.children.items()}
    layers = Block({"0": Linear(merged, merged, True), "2": Linear(merged, s.hidden, True)})
    return block(
        llm=rebased(families.tree(s.part("text")), "llm"),
        vision_encoder=encoder.replace(children=seen),
        vision_projector=as_tower(block(ln_q=layer_norm(d), mlp=layers), "projector"),
    )
