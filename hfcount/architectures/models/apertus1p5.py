"""Apertus 1.5: Apertus over words and the codes of images and sounds, which two tokenisers within make (its card)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.apertus import apertus_spec, layer_block
from hfcount.architectures.layers import base, layer_norm, lm_head
from hfcount.architectures.layers.vision import convolution
from hfcount.architectures.layers.vqgan import attending, residual
from hfcount.mapper import Config, Sizes, count, optional, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

MODEL_TYPES = ("apertus1p5",)  # transformers 5.24: modeling_apertus1p5.py


class Apertus1p5Text(Sizes):
    """`output_vocab_size` is how many rows of the head are left; None for all."""

    output_vocab_size: int | None = optional("|V_o|")


def spec(c: Config) -> Spec[Apertus1p5Text]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    towers["audio"] = families.part(c, "audio_config")
    tied = c.bool("tie_word_embeddings", default=False)
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=tied).having(text.sizes(Apertus1p5Text))


def blueprint(s: Spec[Apertus1p5Text]) -> Block:
    body = block(
        language_model=families.base(s),
        vision_tokenizer=families.tower(s, "vision"),
        audio_tokenizer=families.tower(s, "audio"),
    )
    return body if s.head == "base" else block(model=body, lm_head=_head(s, "model.language_model.embed_tokens.weight"))


def _head(s: Spec[Apertus1p5Text], table: str) -> Node:
    rows = s.own.output_vocab_size
    return lm_head(s, table) if s.tied or rows is None else Linear(s.hidden, rows, component="lm_head")


def text_spec(c: Config) -> Spec[Apertus1p5Text]:
    """Apertus 1.5's language model, whose head may have fewer rows than its embedding."""
    sizes = Apertus1p5Text.read(c)
    if (rows := sizes.output_vocab_size) is not None and rows > c.int("vocab_size"):
        text = f"output_vocab_size is {rows:,}, and vocab_size {c.int('vocab_size'):,}."
        raise c.error("out-of-range", text, "output_vocab_size", "Correct one of them.", observed=int(rows))
    return apertus_spec(c).having(sizes)


def text_blueprint(s: Spec[Apertus1p5Text]) -> Block:
    body = base(s, lambda layer: layer_block(s.hidden, layer))
    return body if s.head == "base" else block(model=body, lm_head=_head(s, "model.embed_tokens.weight"))


class Stage(Record):
    """The width of a stage of the tokeniser, and whether its blocks attend."""

    width: int
    attends: bool


class Apertus1p5Vision(Sizes):
    """Sizes of the tokeniser of images."""

    codebook_size: int = size("n")
    embed_dim: int = size("d_c")
    latent_channels: int = size("d_l")
    in_channels: int = size("C")
    base_channels: int = size("d_0")
    num_res_blocks: int = count("N_r")
    stages: tuple[Stage, ...]


def vision_spec(c: Config) -> Spec[Apertus1p5Vision]:
    """Apertus 1.5's tokeniser of images: the encoder of a VQ-GAN and its codebook (arXiv:2012.09841)."""
    first, factors, side = c.int("base_channels"), c.ints("channel_multiplier"), c.int("resolution")
    if not factors:
        raise c.error("out-of-range", "channel_multiplier names no stage.", "channel_multiplier")
    sizes = {*map(int, c.ints("attn_resolutions"))}
    stages = tuple(
        Stage(width=keys.dim(f"d{number}", first * factor), attends=int(side) >> number - 1 in sizes)
        for number, factor in enumerate(factors, 1)
    )
    codes = keys.dim("d_c", c.int("embed_dim"))
    return keys.encoding(c, [], hidden=codes).having(Apertus1p5Vision.read(c, stages=stages))


def vision_blueprint(s: Spec[Apertus1p5Vision]) -> Block:
    of, stages, before = s.own, dict[str, Node](), s.own.base_channels
    for number, stage in enumerate(of.stages):
        width = stage.width
        attention = attending(width) if stage.attends else None
        first, later = Indices.below(min(1, of.num_res_blocks)), Indices.span(1, max(1, of.num_res_blocks))
        stages[str(number)] = block(
            layers=tuple(
                Repeat(places, block(resnet=residual(inputs, width), attention=attention))
                for places, inputs in ((first, before), (later, width))
            ),
            downsample=block(conv=convolution(width, width, 3)) if number < len(of.stages) - 1 else None,
        )
        before = width
    both = residual(before, before)
    encoder = block(
        conv_in=convolution(of.in_channels, of.base_channels, 3),
        stages=Block(stages),
        mid=block(block_1=both, attn_1=attending(before), block_2=both),
        norm_out=layer_norm(before),
        conv_out=convolution(before, of.latent_channels, 3),
    )
    return block(
        encoder=encoder,
        quantize=block("embedding", embedding=Linear(of.embed_dim, of.codebook_size)),
        quant_conv=convolution(of.latent_channels, of.embed_dim, 1),
    )


PARTS = (
    families.Family(("apertus1p5_text",), text_spec, text_blueprint),
    families.Family(("apertus1p5_vision_tokenizer",), vision_spec, vision_blueprint),
)
