"""SegGPT: segments an image like the one shown with its labels, both in one picture (arXiv:2304.03284)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.stacks import altered
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.mapper import Config, Sizes, derived, flag
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("seggpt",)  # transformers 5.23: modeling_seggpt.py
IGNORED = ("merge_index",)

_HEADS = keys.named(("Model",), ForImageSegmentation="image_to_image")
_TOKENS = ("mask_token", "segment_token_input", "segment_token_prompt", "type_token_semantic", "type_token_instance")
_COLOURS = 3


class Seggpt(Sizes):
    """Sizes specific to SegGPT; `high` and `wide` are patches along the sides, `joined` the layers that it joins."""

    high: int
    wide: int
    relative: bool = flag("use_relative_position_embeddings", absent=True)
    joined: int = derived(lambda c: keys.dim("n_h", c.length("intermediate_hidden_state_indices") or 0))


def spec(c: Config) -> Spec[Seggpt]:
    d, bias, patches = c.int("hidden_size"), c.bool("qkv_bias", default=True), keys.patches(c)
    given = c.ints("image_size", alone=True)
    if not 0 < len(given) < 3:
        raise c.error("list-length", "image_size must give a height and a width, or one size for both.", "image_size")
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias, indivisible="built")
    ffn = Dense(width=c.int("mlp_dim", default=4 * d), bias=True)
    sizes = Seggpt.read(c, high=given[0] // patches.side, wide=given[-1] // patches.side)
    layers, rows = (
        keys.uniform(Layer(mixer=mixer, ffn=ffn), keys.layer_count(c)),
        keys.squares(c, "pretrain_image_size") + 1,
    )
    out = c.int("decoder_hidden_size")
    return keys.imaging(c, layers, _HEADS, hidden=d, positions=rows, patches=patches, out=out).having(sizes)


def blueprint(s: Spec[Seggpt]) -> Block:
    d, of, out, side, norm = s.hidden, s.own, s.output, s.seen.side, layer_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        tables = {
            f"rel_pos_{name}": Tensor((2 * count - 1, a.head_dim)) if of.relative else None
            for name, count in (("h", of.high), ("w", of.wide))
        }
        attention = altered(fused_square_attention(d, a.qkv_bias), **tables)
        network = mlp(d, layer.dense.width, up="lin1", down="lin2")
        return block(attention=attention, mlp=network, layernorm_before=norm, layernorm_after=norm)

    embeddings = block(
        "embedding",
        **{name: Tensor((1, 1, 1, d)) for name in _TOKENS},
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
    )
    body = block(embeddings=embeddings, encoder=block(layers=stack(s.layers, layer_block), layernorm=norm))
    made = block(conv=conv(out, out, 3, bias=True), layernorm=layer_norm(out), head=conv(out, _COLOURS, 1, bias=True))
    wide = Linear(of.joined * d, side * side * out, True, "projector")
    decoder = block(decoder_embed=wide, decoder_pred=made)
    return headed(s, "model", body, image_to_image=block(decoder=decoder))
