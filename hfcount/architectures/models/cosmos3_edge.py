"""Cosmos 3 Edge: SigLIP 2's layers, whose patches are merged, beside the language model (arXiv:2511.00062)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import base, gqa, layer_norm, lm_head, mlp, pre_norm
from hfcount.architectures.layers.composite import renamed, towers_in_model
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

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


class Cosmos3Edge(Sizes):
    spatial_merge_size: int
    projector_hidden_size: int


def spec(c: Config) -> Spec[Cosmos3Edge]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    sizes = Cosmos3Edge.read(
        c,
        spatial_merge_size=keys.dim("m", c.part("vision_config").int("spatial_merge_size")),
        projector_hidden_size=keys.dim("d_p", c.int("projector_hidden_size", default=11_520)),
    )
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, heads=heads).replace(tied=False).having(sizes)  # its class ties nothing


def blueprint(s: Spec[Cosmos3Edge]) -> Block:
    vision_width, wide, merge = s.part("vision").hidden, s.own.projector_hidden_size, s.own.spatial_merge_size
    two = {"linear_fc1": Linear(merge * merge * vision_width, wide, True), "linear_fc2": Linear(wide, s.hidden, True)}
    projector = Block({"norm": layer_norm(vision_width), **two}, "projector", 0)
    tower, text = renamed(families.tower(s, "vision"), _NAMES), renamed(families.base(s), _NAMES)
    if s.head == "base":
        return towers_in_model(s, text, visual=tower, projector=projector)
    inner = block(projector=projector, visual=tower)
    return Block({**text.children, "model": inner, "lm_head": lm_head(s, "embed_tokens.weight")})


def text_spec(c: Config) -> Spec:
    """Cosmos 3 Edge's language model: grouped heads, networks without a gate (arXiv:2511.00062)."""
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    return keys.decoder_spec(c, layer, heads=("Model",))


def text_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=mlp(d, layer.dense.width, layer.dense.bias))

    return base(s, layer_block)


PARTS = (families.Family(("cosmos3_edge_text",), text_spec, text_blueprint),)
