"""Emu3's tokeniser of images and videos: an encoder, a codebook and a decoder (arXiv:2409.18869)."""

from math import log2

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import embedding, layer_norm
from hfcount.parts.convolution import batch_norm, conv
from hfcount.parts.vision import square_attention
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Node, Repeat, block

MODEL_TYPES = ("emu3_vqgan",)  # transformers 5.23: modeling_emu3.py
IGNORED = ("num_attention_heads",)

_HEADS = keys.named(VQVAE="base")


def spec(c: Config) -> Spec:
    first, factors = c.int("base_channels"), c.ints("channel_multiplier")
    if not factors:
        raise c.error("channel_multiplier names no level.", "channel_multiplier")
    seen = c.ints("attn_resolutions")
    factor = c.int("temporal_downsample_factor")
    traits: dict[str, int] = {
        "in_channels": keys.sized("C", c.int("in_channels")),
        "out_channels": keys.sized("C_o", c.int("out_channels")),
        "first": keys.sized("d_0", first),
        "blocks": keys.sized("N_r", c.int("num_res_blocks", maximum=MAX_LAYERS)),
        "codes": keys.sized("n", c.int("codebook_size")),
        "codebook": keys.sized("d_c", c.int("embed_dim")),
        "latent": keys.sized("d_l", c.int("latent_channels")),
        "double": 2 if c.bool("double_latent", default=False) else 1,
        "times": keys.worked(c, "N_t", int(log2(max(1, factor))), "{temporal_downsample_factor}, as a power of 2"),
    }
    for number, factor in enumerate(factors):
        traits[f"width.{number}"] = keys.sized(f"d{number + 1}", first * factor)
        traits[f"attends.{number}"] = number in map(int, seen)
    return keys.encoding(c, [], _HEADS, hidden=c.int("hidden_size"), traits=traits)


def blueprint(s: Spec) -> Block:
    of, count = s.traits, s.traits["blocks"]
    widths = [size for name, size in of.items() if name.startswith("width.")]
    ends, last = len(widths) - 1, widths[-1]
    attention = square_attention(s.hidden, out="out_proj")

    def norm(width: int, coded: bool) -> Block:
        """A norm; of the decoder, one whose scale and shift are made of the codes."""
        if not coded:
            return layer_norm(width)
        one = conv(of["codebook"], width, 1, bias=True)
        return block(norm_layer=layer_norm(width), conv_y=one, conv_b=one)

    def residual(inputs: int, outputs: int, coded: bool) -> Block:
        return block(
            norm1=norm(inputs, coded),
            conv1=conv(inputs, outputs, 3, bias=True),
            norm2=norm(outputs, coded),
            conv2=conv(outputs, outputs, 3, bias=True),
            nin_shortcut=None if inputs == outputs else conv(inputs, outputs, 1, bias=True),
        )

    def level(number: int, before: int, coded: bool) -> Block:
        width, depth = widths[number], count + 1 if coded else count
        first, every = Indices.below(min(1, depth)), Indices.below(depth)
        rest = Repeat(Indices(range(1, max(1, depth)), depth - 1), residual(width, width, coded))
        blocks: Node = (Repeat(first, residual(before, width, coded)), rest)
        resized = block(conv=conv(width, width, 3, bias=True))
        attends = of[f"attends.{number}"]
        return block(
            block=blocks,
            attn=Repeat(every, attention) if attends else None,
            attn_norms=Repeat(every, norm(width, coded)) if attends else None,
            downsample=resized if not coded and number != ends else None,
            upsample=resized if coded and number else None,
        )

    def middle(coded: bool) -> Block:
        one = residual(last, last, coded)
        return block(block_1=one, attn_1=attention, attn_norm=norm(last, coded), block_2=one)

    def across(width: int) -> Node:
        inner = block(conv=conv(width, width, 3, 3, 3, bias=True))
        normed = batch_norm(width)
        return Repeat(Indices.below(count), block(norm1=normed, conv1=inner, norm2=normed, conv2=inner))

    def along(width: int, frames: int) -> Node:
        one = block(conv=block(conv=conv(width, width, frames, 3, 3, bias=True)))
        return Repeat(Indices.below(of["times"]), one)

    out, latent = of["double"] * of["latent"], of["latent"]
    down = {
        str(number): level(number, widths[number - 1] if number else of["first"], False) for number in range(ends + 1)
    }
    up = {str(number): level(number, widths[min(number + 1, ends)], True) for number in range(ends + 1)}
    encoder = block(
        conv_in=conv(of["in_channels"], of["first"], 3, bias=True),
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
        conv_out=conv(widths[0], of["out_channels"], 3, bias=True),
    )
    codes = of["codebook"]
    return block(
        encoder=encoder,
        decoder=decoder,
        quantize=block(embedding=embedding(of["codes"], codes)),
        quant_conv=block(conv=conv(latent, codes, 3, 1, 1, bias=True)),
        post_quant_conv=block(conv=conv(codes, latent, 3, 1, 1, bias=True)),
    )
