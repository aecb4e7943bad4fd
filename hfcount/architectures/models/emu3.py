"""Emu3: Llama over words and the codes of images and videos (arXiv:2409.18869)."""

from math import log2

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head
from hfcount.architectures.layers.convolution import batch_norm, conv
from hfcount.architectures.layers.vision import square_attention
from hfcount.mapper import Config, Sizes, count, derived, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block

MODEL_TYPES = ("emu3",)  # transformers 5.23: modeling_emu3.py
IGNORED = ("vocabulary_map",)
SPELLINGS = {
    r"^text_model\.lm_head\.": "lm_head.",
    r"^text_model\.(?:model\.)?": "model.text_model.",
    r"^vqmodel\.": "model.vqmodel.",
}


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vq_config")}
    # The text model within has no head, and so its own tie says nothing.
    tied = c.bool("tie_word_embeddings", default=False)
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model")).replace(tied=tied)


def blueprint(s: Spec) -> Block:
    body, tower = families.base(s), families.tower(s, "vision")
    if s.head == "base":
        return block(text_model=block(model=body), vqmodel=tower)
    text = block(model=body, lm_head=lm_head(s, "text_model.model.embed_tokens.weight"))
    return block(text_model=text, vqmodel=tower)


_HEADS = keys.named(VQVAE="base")


class Level(Record):
    """The width of a level, and whether its blocks attend."""

    width: int
    attends: bool


class Emu3Vqgan(Sizes):
    """Sizes specific to Emu3's tokeniser.

    `double` is 2 if the encoder makes means and variances, else 1; `times` is how often it halves the frames.
    """

    in_channels: int = size("C")
    out_channels: int = size("C_o")
    base_channels: int = size("d_0")
    num_res_blocks: int = count("N_r")
    codebook_size: int = size("n")
    embed_dim: int = size("d_c")
    latent_channels: int = size("d_l")
    double: int = derived(lambda c: 2 if c.bool("double_latent", default=False) else 1)
    times: int
    levels: tuple[Level, ...]


def vqgan_spec(c: Config) -> Spec[Emu3Vqgan]:
    """Emu3's tokeniser of images and videos: an encoder, a codebook and a decoder (arXiv:2409.18869)."""
    first, factors = c.int("base_channels"), c.ints("channel_multiplier")
    if not factors:
        raise c.error("out-of-range", "channel_multiplier names no level.", "channel_multiplier")
    resolutions = c.ints("attn_resolutions")
    factor = c.int("temporal_downsample_factor")
    times = keys.derived_dim(c, "N_t", int(log2(max(1, factor))), "{temporal_downsample_factor}, as a power of 2")
    levels = tuple(
        Level(width=keys.dim(f"d{number + 1}", first * wider), attends=number in map(int, resolutions))
        for number, wider in enumerate(factors)
    )
    sizes = Emu3Vqgan.read(c, times=times, levels=levels)
    return keys.encoding(c, [], _HEADS, hidden=c.int("hidden_size")).having(sizes)


def vqgan_blueprint(s: Spec[Emu3Vqgan]) -> Block:
    of, blocks = s.own, s.own.num_res_blocks
    widths = [level.width for level in of.levels]
    ends, last = len(widths) - 1, widths[-1]
    attention = square_attention(s.hidden, out="out_proj")

    def norm(width: int, coded: bool) -> Block:
        """A norm; of the decoder, one whose scale and shift are made of the codes."""
        if not coded:
            return layer_norm(width)
        projection = conv(of.embed_dim, width, 1, bias=True)
        return block(norm_layer=layer_norm(width), conv_y=projection, conv_b=projection)

    def residual(inputs: int, outputs: int, coded: bool) -> Block:
        return block(
            norm1=norm(inputs, coded),
            conv1=conv(inputs, outputs, 3, bias=True),
            norm2=norm(outputs, coded),
            conv2=conv(outputs, outputs, 3, bias=True),
            nin_shortcut=None if inputs == outputs else conv(inputs, outputs, 1, bias=True),
        )

    def level(number: int, before: int, coded: bool) -> Block:
        width, depth = widths[number], blocks + 1 if coded else blocks
        first, every = Indices.below(min(1, depth)), Indices.below(depth)
        rest = Repeat(Indices(range(1, max(1, depth)), depth - 1), residual(width, width, coded))
        chain: Node = (Repeat(first, residual(before, width, coded)), rest)
        resized = block(conv=conv(width, width, 3, bias=True))
        attends = of.levels[number].attends
        return block(
            block=chain,
            attn=Repeat(every, attention) if attends else None,
            attn_norms=Repeat(every, norm(width, coded)) if attends else None,
            downsample=resized if not coded and number != ends else None,
            upsample=resized if coded and number else None,
        )

    def middle(coded: bool) -> Block:
        resnet = residual(last, last, coded)
        return block(block_1=resnet, attn_1=attention, attn_norm=norm(last, coded), block_2=resnet)

    def across(width: int) -> Node:
        inner = block(conv=conv(width, width, 3, 3, 3, bias=True))
        normed = batch_norm(width)
        return Repeat(Indices.below(blocks), block(norm1=normed, conv1=inner, norm2=normed, conv2=inner))

    def along(width: int, frames: int) -> Node:
        convolution = block(conv=block(conv=conv(width, width, frames, 3, 3, bias=True)))
        return Repeat(Indices.below(of.times), convolution)

    out, latent = of.double * of.latent_channels, of.latent_channels
    down = {
        str(number): level(number, widths[number - 1] if number else of.base_channels, False)
        for number in range(ends + 1)
    }
    up = {str(number): level(number, widths[min(number + 1, ends)], True) for number in range(ends + 1)}
    encoder = block(
        conv_in=conv(of.in_channels, of.base_channels, 3, bias=True),
        down_block=block(down=Block(down)),
        middle_block=middle(False),
        norm_out=layer_norm(last),
        conv_out=conv(last, out, 3, bias=True),
        time_conv=along(out, 4),
        time_res_stack=across(out),
    )
    decoder = block(
        time_res_stack=across(latent),
        time_conv=along(latent, 3),
        conv_in=conv(latent, last, 3, bias=True),
        middle_block=middle(True),
        up_block=block(up=Block(up)),
        norm_out=norm(widths[0], True),
        conv_out=conv(widths[0], of.out_channels, 3, bias=True),
    )
    codes = of.embed_dim
    return block(
        encoder=encoder,
        decoder=decoder,
        quantize=block(embedding=embedding(of.codebook_size, codes)),
        quant_conv=block(conv=conv(latent, codes, 3, 1, 1, bias=True)),
        post_quant_conv=block(conv=conv(codes, latent, 3, 1, 1, bias=True)),
    )


PARTS = (families.Family(("emu3_vqgan",), vqgan_spec, vqgan_blueprint, ignored=("num_attention_heads",)),)
