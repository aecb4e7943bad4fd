"""Llama 3.1 Nemotron Nano VL: RADIO, whose patches are merged and projected, before a Llama (arXiv:2506.03162)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import backbones, layer_norm
from hfcount.architectures.layers.composite import rebased
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("Llama_Nemotron_Nano_VL",)  # nemotron_vl.py of vllm-project/vllm 0.33.0
CLASSES = ("Llama_Nemotron_Nano_VL",)
IGNORED = ("force_image_size", "image_tag_type", "ps_version", "template")


class LlamaNemotronNanoVl(Sizes):
    """Sizes specific to Nemotron Nano VL; patches are joined `merge` times along each side."""

    merge: int
    projector_hidden_size: int = size("d_p", absent=4096)
    seen: int


def spec(c: Config) -> Spec[LlamaNemotronNanoVl]:
    inner = c.part("llm_config")
    inner.kind = inner.kind or "llama"
    text = families.part(c, "llm_config").replace(head="causal_lm")
    trained = c.part("vision_config").given("args")
    vision = backbones.only(c, families.part(c, "vision_config", "radio" if trained else ""), "radio")
    merge, narrow = keys.inverse(c, "m", "downsample_ratio", default=0.5), c.int("vit_hidden_size", default=1280)
    if not merge:
        raise c.error("out-of-range", "downsample_ratio must be at most 1.", "downsample_ratio")
    if narrow != vision.hidden:
        message = f"vit_hidden_size is {narrow:,}, and the tower's width {vision.hidden:,}."
        c.cannot_run("contradiction", message, "vit_hidden_size", "Correct one of them.")
    sizes = LlamaNemotronNanoVl.read(c, merge=merge, seen=keys.dim("d_v", narrow))
    heads = keys.named(Llama_Nemotron_Nano_VL="conditional_generation")
    # Its class takes the norm of colours out of the tower.
    model = keys.composite(c, text, {"vision": vision.replace(adapted=True)}, key="llm_config", heads=heads)
    return model.replace(tied=text.tied).having(sizes)


def blueprint(s: Spec[LlamaNemotronNanoVl]) -> Block:
    of = s.own
    vision_width, wide = of.merge * of.merge * of.seen, of.projector_hidden_size
    layers: dict[str, Node] = {
        "0": layer_norm(vision_width),
        "1": Linear(vision_width, wide, True),
        "3": Linear(wide, s.hidden, True),
    }
    return block(
        vision_model=families.tower(s, "vision"),
        mlp1=Block(layers, "projector", 0),
        language_model=rebased(families.tree(s.part("text")), "language_model"),
    )
