"""BridgeTower's vision tower: CLIP's, named as it was first published (arXiv:2206.08657)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.classic import positions
from hfcount.parts.vision import patch_convolution
from hfcount.spec import GQA, Dense, Layer, Sizes, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block, obsolete

MODEL_TYPES = ("bridgetower_vision_model",)  # transformers 5.23: modeling_bridgetower.py
IGNORED = ("stop_gradient", "initializer_factor")

_HEAD = 64  # the width of a head


class BridgetowerVisionModel(Sizes):
    """What this architecture alone has."""

    norms: int


def spec(c: Config) -> Spec[BridgetowerVisionModel]:
    d, count = c.int("hidden_size"), keys.layer_count(c)
    heads = d // _HEAD
    if not heads or d % heads:
        raise c.error(f"hidden_size is {d:,}, of which heads of {_HEAD} cannot be made.", "hidden_size")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=d // heads, qkv_bias=True, out_bias=True)
    shorter = count - 1 if c.bool("remove_last_layer", default=False) else count
    layers = keys.uniform(Layer(mixer=mixer, ffn=Dense(width=4 * d, bias=True)), shorter)
    own = BridgetowerVisionModel.read(c, norms=0 if c.bool("share_layernorm", default=True) else count)
    places = keys.squares(c) + 1
    return keys.encoding(c, layers, hidden=d, positions=places, patches=keys.patches(c)).having(own)


def blueprint(s: Spec[BridgetowerVisionModel]) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        weight, bias = Tensor((3 * d, d)), Tensor((3 * d,))
        attention = block("attention", in_proj_weight=weight, in_proj_bias=bias, out_proj=Linear(d, d, True))
        network = mlp(d, one.dense.width, up="c_fc", down="c_proj")
        return block(attn=attention, ln_1=layer_norm(d), mlp=network, ln_2=layer_norm(d))

    table = block(
        class_embedding=Tensor((d,), component="embedding"),
        patch_embedding=patch_convolution(s, bias=False),
        position_embedding=positions(s),
        position_ids=obsolete(1, s.positions or 0, whole=True),
    )
    norms = Repeat(Indices.below(s.own.norms), layer_norm(d))
    visual = block(
        embeddings=table,
        ln_pre=layer_norm(d),
        transformer=block(resblocks=stack(s.layers, layer)),
        ln_post=layer_norm(d),
        ln_separate=norms if s.own.norms else None,
    )
    return block(visual=visual)
