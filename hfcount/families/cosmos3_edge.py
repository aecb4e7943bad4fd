"""Cosmos 3 Edge: SigLIP 2's layers, whose patches are merged, beside the language model (arXiv:2511.00062)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, lm_head
from hfcount.parts.composite import joined, renamed
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("cosmos3_edge",)  # transformers 5.23: modeling_cosmos3_edge.py
_NAMES = {
    "self_attn.q_proj": "to_q",
    "self_attn.k_proj": "to_k",
    "self_attn.v_proj": "to_v",
    "self_attn.o_proj": "to_out",
    "mlp.fc1": "up_proj",
    "mlp.fc2": "down_proj",
}
SPELLINGS = {
    r"^(?=(layers|embed_tokens|norm)\.)": "model.language_model.",
    **{rf"\.{name.split('.')[0]}\.{later}\.": f".{name}." for name, later in _NAMES.items()},
}


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    traits = {
        "spatial_merge_size": keys.sized("m", c.part("vision_config").int("spatial_merge_size")),
        "projector_hidden_size": keys.sized("d_p", c.int("projector_hidden_size", default=11_520)),
    }
    heads = ("ForConditionalGeneration", "Model")
    return keys.around(c, text, towers, heads=heads, traits=traits).but(tied=False)  # its class ties nothing


def blueprint(s: Spec) -> Block:
    seen, wide, merge = s.parts["vision"].hidden, s.traits["projector_hidden_size"], s.traits["spatial_merge_size"]
    two = {"linear_fc1": Linear(merge * merge * seen, wide, True), "linear_fc2": Linear(wide, s.hidden, True)}
    projector = Block({"norm": layer_norm(seen), **two}, "projector", 0)
    tower, text = renamed(families.tower(s, "vision"), _NAMES), renamed(families.base(s), _NAMES)
    if s.head == "base":
        return joined(s, text, visual=tower, projector=projector)
    inner = block(projector=projector, visual=tower)
    return Block({**text.children, "model": inner, "lm_head": lm_head(s, "embed_tokens.weight")})
