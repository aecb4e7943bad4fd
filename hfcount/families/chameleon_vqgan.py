"""Chameleon's image tokeniser: the encoder of a VQ-GAN and its codebook (arXiv:2405.09818, arXiv:2012.09841)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import embedding, layer_norm
from hfcount.parts.convolution import conv
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Node, Repeat, block

MODEL_TYPES = ("chameleon_vqgan",)  # transformers 5.23: modeling_chameleon.py

_HEADS = keys.named(VQVAE="base")


def spec(c: Config) -> Spec:
    first, factors, side = c.int("base_channels"), c.ints("channel_multiplier"), c.int("resolution")
    vanilla = c.str("attn_type", default="vanilla") == "vanilla"
    seen = [] if c.is_null("attn_resolutions") else c.ints("attn_resolutions")
    if not factors:
        raise c.error("channel_multiplier names no level.", "channel_multiplier")
    double = 2 if c.bool("double_latent", default=False) else 1
    traits: dict[str, int] = {
        "in_channels": keys.sized("C", c.int("in_channels")),
        "first": keys.sized("d_0", first),
        "blocks": keys.sized("N_r", c.int("num_res_blocks", maximum=MAX_LAYERS)),
        "codes": keys.sized("n", c.int("num_embeddings")),
        "latent": keys.sized("d_l", c.int("latent_channels")),
        "double": double,
        "vanilla": vanilla,
    }
    for number, factor in enumerate(factors):
        traits[f"width.{number}"] = keys.sized(f"d{number + 1}", first * factor)
        traits[f"attends.{number}"] = vanilla and int(side) >> number in map(int, seen)
    return keys.encoding(c, [], _HEADS, hidden=c.int("embed_dim"), traits=traits)


def blueprint(s: Spec) -> Block:
    of, count, d = s.traits, s.traits["blocks"], s.hidden

    def residual(inputs: int, outputs: int) -> Block:
        return block(
            norm1=layer_norm(inputs),
            conv1=conv(inputs, outputs, 3, bias=True),
            norm2=layer_norm(outputs),
            conv2=conv(outputs, outputs, 3, bias=True),
            nin_shortcut=None if inputs == outputs else conv(inputs, outputs, 1, bias=True),
        )

    def attending(width: int) -> Block:
        one = conv(width, width, 1, bias=True)
        return block("attention", norm=layer_norm(width), q=one, k=one, v=one, proj_out=one)

    levels, before = dict[str, Block](), of["first"]
    widths = [size for name, size in of.items() if name.startswith("width.")]
    for number, width in enumerate(widths):
        first, later = Indices.below(min(1, count)), Indices(range(1, max(1, count)), count - 1)
        blocks: Node = (Repeat(first, residual(before, width)), Repeat(later, residual(width, width)))
        end = number == len(widths) - 1
        levels[str(number)] = block(
            block=blocks,
            attn=Repeat(Indices.below(count), attending(width)) if of[f"attends.{number}"] else None,
            downsample=None if end else block(conv=conv(width, width, 3, bias=True)),
        )
        before = width
    whole = residual(before, before)
    encoder = block(
        conv_in=conv(of["in_channels"], of["first"], 3, bias=True),
        down=Block(levels),
        mid=block(block_1=whole, attn_1=attending(before) if of["vanilla"] else None, block_2=whole),
        norm_out=layer_norm(before),
        conv_out=conv(before, of["double"] * of["latent"], 3, bias=True),
    )
    return block(
        encoder=encoder,
        quantize=block(embedding=embedding(of["codes"], d)),
        quant_conv=conv(of["latent"], d, 1, bias=True),
        post_quant_conv=conv(d, of["latent"], 1, bias=True),
    )
