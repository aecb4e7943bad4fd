"""aMUSEd: a transformer between convolutions that fills in the masked codes of an image (arXiv:2401.01808)."""

from hfcount.architectures.layers import diffusion, layer_norm, rms_norm
from hfcount.architectures.layers.convolution import conv, depthwise, transposed
from hfcount.architectures.layers.diffusion.layers import feed_forward
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

# diffusers 0.42.1: uvit_2d.py, attention.py, normalization.py
MODEL_TYPES = ("UVit2DModel",)


class UVit(Sizes):
    """What it has: `hidden_size` is the transformer's width, and `block_out_channels` that of the convolutions."""

    hidden_size: int = size("d")
    use_bias: bool = flag()
    ln_elementwise_affine: bool = flag()
    cond_embed_dim: int = size("d_p")
    micro_cond_embed_dim: int = size("d_m")
    encoder_hidden_size: int = size("d_t")
    vocab_size: int = size("V")
    codebook_size: int = size("n")
    in_channels: int = size("C_i")
    block_out_channels: int = size("C")
    num_res_blocks: int = count("R", minimum=0)
    downsample: bool = flag()
    upsample: bool = flag()
    block_num_heads: int = size("h_b")
    num_hidden_layers: int = count("L", minimum=0)
    num_attention_heads: int = size("h")
    intermediate_size: int = size("d_ff")


def spec(c: Config) -> Spec[UVit]:
    sizes = UVit.read(c)
    _check_heads(c, "num_attention_heads", sizes.num_attention_heads, sizes.hidden_size)
    _check_heads(c, "block_num_heads", sizes.block_num_heads, sizes.block_out_channels)
    diffusion.dropout(c, "hidden_dropout")
    diffusion.dropout(c, "attention_dropout")
    return diffusion.diffusing(c, sizes, sizes.hidden_size)


def _check_heads(c: Config, key: str, heads: int, width: int) -> None:
    """Refuses more heads than a width has elements; those that do not divide it share fewer elements."""
    if heads > width:
        text = f"{key} is {int(heads):,}, and at most {int(width):,} heads have an element each."
        raise c.error("out-of-range", text, key, "Correct it.", observed=int(heads))


def blueprint(s: Spec[UVit]) -> Block:
    d, of = s.hidden, s.own
    bias, channels = of.use_bias, of.block_out_channels
    return block(
        encoder_proj=Linear(of.encoder_hidden_size, d, bias, "projector"),
        encoder_proj_layer_norm=_norm(of, d),
        embed=block(
            "embedding",
            embeddings=block(weight=Tensor((of.vocab_size, of.in_channels))),
            layer_norm=_norm(of, of.in_channels),
            conv=conv(of.in_channels, channels, 1, 1, bias=bias),
        ),
        cond_embed=block(
            "embedding",
            linear_1=Linear(of.micro_cond_embed_dim + of.cond_embed_dim, d, bias),
            linear_2=Linear(d, d, bias),
        ),
        down_block=_convolved(of, d, downsample=_resampled(of, conv(channels, channels, 2, bias=bias), of.downsample)),
        project_to_hidden_norm=_norm(of, channels),
        project_to_hidden=Linear(channels, d, bias, "projector"),
        transformer_layers=Repeat(Indices.below(of.num_hidden_layers), _layer(of, d)),
        project_from_hidden_norm=_norm(of, d),
        project_from_hidden=Linear(d, channels, bias, "projector"),
        up_block=_convolved(of, d, upsample=_resampled(of, transposed(channels, channels, 2, bias), of.upsample)),
        mlm_layer=block(
            conv1=conv(channels, of.in_channels, 1, bias=bias),
            layer_norm=_norm(of, of.in_channels),
            conv2=conv(of.in_channels, of.codebook_size, 1, bias=bias),
        ),
    )


def _norm(of: UVit, d: int) -> Block | None:
    return rms_norm(d) if of.ln_elementwise_affine else None


def _resampled(of: UVit, resized: Node, here: bool) -> Block | None:
    return block(norm=_norm(of, of.block_out_channels), conv=resized) if here else None


def _convolved(of: UVit, d: int, **resampled: Node | None) -> Block:
    """Residual blocks of convolutions, and as many that attend to themselves, then to the text."""
    channels, each = of.block_out_channels, Indices.below(of.num_res_blocks)
    row = Tensor((1, 1, 1, 4 * channels), component="norm")
    residual = block(
        depthwise=depthwise(channels, 3, bias=of.use_bias),
        norm=_norm(of, channels),
        channelwise_linear_1=Linear(channels, 4 * channels, of.use_bias, "mlp"),
        channelwise_norm=block(gamma=row, beta=row),
        channelwise_linear_2=Linear(4 * channels, channels, of.use_bias, "mlp"),
        cond_embeds_mapper=Linear(d, 2 * channels, of.use_bias),
    )
    attending = _attention(of, channels, of.block_num_heads)
    attends = block(
        kv_mapper=Linear(d, channels, of.use_bias, "projector") if d != channels else None,
        norm1=rms_norm(channels),
        attn1=attending,
        norm2=rms_norm(channels),
        attn2=attending,
    )
    return block(res_blocks=Repeat(each, residual), attention_blocks=Repeat(each, attends), **resampled)


def _attention(of: UVit, d: int, heads: int) -> Block:
    inner, bias = heads * (d // heads), of.use_bias
    sizes = Linear(d, inner, bias)
    return block("attention", to_q=sizes, to_k=sizes, to_v=sizes, to_out=Block({"0": Linear(inner, d, bias)}))


def _layer(of: UVit, d: int) -> Block:
    """A layer of the transformer, whose norms are set by the text as a whole."""
    affine, bias = of.ln_elementwise_affine, of.use_bias
    attending = _attention(of, d, of.num_attention_heads)
    set_by = block(linear=Linear(d, 2 * d, bias), norm=_norm(of, d))
    last = block(linear=Linear(d, 2 * d, bias), norm=layer_norm(d, bias) if affine else None)
    network = feed_forward(d, of.intermediate_size, gated=True, bias=bias)
    return block(norm1=set_by, attn1=attending, norm2=set_by, attn2=attending, norm3=last, ff=network)
