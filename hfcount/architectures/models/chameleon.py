"""Chameleon: Llama with normalised queries and keys, whose vocabulary also has images' codes (arXiv:2405.09818)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import (
    altered,
    base,
    embedding,
    gqa,
    layer_norm,
    pre_norm,
    swiglu,
    with_head,
)
from hfcount.architectures.layers.convolution import conv
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, Tensor, block

MODEL_TYPES = ("chameleon",)  # transformers 5.23: modeling_chameleon.py
IGNORED = ("model_parallel_size", "swin_norm", "vocabulary_map")


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, bias=bias, derived=True, indivisible="refused")
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    parts, heads = {"vision": families.part(c, "vq_config")}, ("ForConditionalGeneration", "Model")
    return keys.decoder_spec(c, layer, heads=heads, parts=parts)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def norm(heads: int, width: int) -> Block:
        """Each head has a norm of its own."""
        return block("norm", weight=Tensor((heads, width)), bias=Tensor((heads, width)))

    def layer_block(layer: Layer) -> Block:
        a, of = layer.attention, layer.dense
        attention = altered(gqa(d, a), q_norm=norm(a.heads, a.head_dim), k_norm=norm(a.kv_heads, a.head_dim))
        return pre_norm(d, self_attn=attention, mlp=swiglu(d, of.width, of.bias))

    body = Block({**base(s, layer_block).children, "vqmodel": families.tower(s, "vision")})
    return with_head(s, body)


_HEADS = keys.named(VQVAE="base")


class Level(Record):
    """The width of a level, and whether its blocks attend."""

    width: int
    attends: bool


class ChameleonVqgan(Sizes):
    """Sizes specific to Chameleon's tokeniser; `double` is 2 if the encoder makes means and variances, else 1."""

    in_channels: int = size("C")
    base_channels: int = size("d_0")
    num_res_blocks: int = count("N_r")
    num_embeddings: int = size("n")
    latent_channels: int = size("d_l")
    double: int
    vanilla: bool
    levels: tuple[Level, ...]


def vqgan_spec(c: Config) -> Spec[ChameleonVqgan]:
    """Chameleon's image tokeniser: the encoder of a VQ-GAN and its codebook (arXiv:2405.09818, arXiv:2012.09841)."""
    first, factors, side = c.int("base_channels"), c.ints("channel_multiplier"), c.int("resolution")
    vanilla = c.str("attn_type", default="vanilla") == "vanilla"
    resolutions = [] if c.is_null("attn_resolutions") else c.ints("attn_resolutions")
    if not factors:
        raise c.error("out-of-range", "channel_multiplier names no level.", "channel_multiplier")
    double = 2 if c.bool("double_latent", default=False) else 1
    levels = tuple(
        Level(
            width=keys.dim(f"d{number + 1}", first * factor),
            attends=vanilla and int(side) >> number in map(int, resolutions),
        )
        for number, factor in enumerate(factors)
    )
    sizes = ChameleonVqgan.read(c, double=double, vanilla=vanilla, levels=levels)
    return keys.encoding(c, [], _HEADS, hidden=c.int("embed_dim")).having(sizes)


def vqgan_blueprint(s: Spec[ChameleonVqgan]) -> Block:
    of, depth, d = s.own, s.own.num_res_blocks, s.hidden

    def residual(inputs: int, outputs: int) -> Block:
        return block(
            norm1=layer_norm(inputs),
            conv1=conv(inputs, outputs, 3, bias=True),
            norm2=layer_norm(outputs),
            conv2=conv(outputs, outputs, 3, bias=True),
            nin_shortcut=None if inputs == outputs else conv(inputs, outputs, 1, bias=True),
        )

    def attending(width: int) -> Block:
        projection = conv(width, width, 1, bias=True)
        return block("attention", norm=layer_norm(width), q=projection, k=projection, v=projection, proj_out=projection)

    levels, before = dict[str, Block](), of.base_channels
    for number, level in enumerate(of.levels):
        width = level.width
        first, later = Indices.below(min(1, depth)), Indices(range(1, max(1, depth)), depth - 1)
        blocks: Node = (Repeat(first, residual(before, width)), Repeat(later, residual(width, width)))
        end = number == len(of.levels) - 1
        levels[str(number)] = block(
            block=blocks,
            attn=Repeat(Indices.below(depth), attending(width)) if level.attends else None,
            downsample=None if end else block(conv=conv(width, width, 3, bias=True)),
        )
        before = width
    body = residual(before, before)
    encoder = block(
        conv_in=conv(of.in_channels, of.base_channels, 3, bias=True),
        down=Block(levels),
        mid=block(block_1=body, attn_1=attending(before) if of.vanilla else None, block_2=body),
        norm_out=layer_norm(before),
        conv_out=conv(before, of.double * of.latent_channels, 3, bias=True),
    )
    return block(
        encoder=encoder,
        quantize=block(embedding=embedding(of.num_embeddings, d)),
        quant_conv=conv(of.latent_channels, d, 1, bias=True),
        post_quant_conv=conv(d, of.latent_channels, 1, bias=True),
    )


PARTS = (families.Family(("chameleon_vqgan",), vqgan_spec, vqgan_blueprint),)
