"""X-Codec and the tokenizer of Higgs Audio: DAC's network and a recogniser's, coded together (arXiv:2408.17175)."""

from math import ceil, log2
from typing import Self

from hfcount.architectures import families, keys
from hfcount.architectures.components.codecs import product
from hfcount.architectures.layers.temporal import conv, upsampling
from hfcount.architectures.models.dac import Dac
from hfcount.mapper import Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.dims import Dim, scaled
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block, buffer

# transformers 5.23: modeling_xcodec.py, modeling_higgs_audio_v2_tokenizer.py
MODEL_TYPES = ("xcodec", "higgs_audio_v2_tokenizer")
IGNORED = ("semantic_sample_rate", "downsample_factor")


class Stride(Record):
    """A block that shortens a sequence by so many steps, and makes `width` elements of each."""

    steps: int
    width: int


class Semantic(Record):
    """What codes what a recogniser made of speech: blocks, each with so many residual `units`."""

    blocks: tuple[Stride, ...]
    units: int
    kernel_size: int
    unit_kernel_size: int

    @classmethod
    def read(cls, c: Config, width: int) -> Self:
        """Its sizes; what the recogniser made is `width` wide."""
        strides, scales = c.ints("strides"), c.entries("channel_ratios")
        if not strides or len(strides) != len(scales) or not all(isinstance(scale, int | float) for scale in scales):
            text = f"strides has {len(strides):,} entries, and channel_ratios must have as many numbers."
            raise c.error("list-length", text, "strides", "Correct one of them.")
        units, blocks = c.length("block_dilations") or 0, list[Stride]()
        for number, (stride, scale) in enumerate(zip(strides, scales, strict=True), 1):
            wide = width if scale == 1 else scaled(scale, "channel_ratios", width)
            blocks.append(Stride(steps=keys.dim(f"s{number}", stride), width=wide))
        return cls(
            blocks=tuple(blocks),
            units=units,
            kernel_size=keys.dim("w", c.int("kernel_size")),
            unit_kernel_size=keys.dim("w_u", c.int("unit_kernel_size")),
        )

    def encoder(self, d: int) -> Block:
        """The way there.

        Tensors: conv (d, d, w); of each of conv_blocks res_units, each with conv1 (d_i, d_i, w_u) and conv2 (d_i, d_i,
        1), and conv (d_i+1, d_i, 3, or 2·s where it strides).
        """
        width, blocks = d, dict[str, Block]()
        for number, stage in enumerate(self.blocks):
            coarser = conv(width, stage.width, 3 if stage.steps == 1 else 2 * stage.steps)
            blocks[str(number)] = block(res_units=self._residuals(width), conv=coarser)
            width = stage.width
        return block("convolution", conv=conv(d, d, self.kernel_size, False), conv_blocks=Block(blocks))

    def decoder(self, d: int) -> Block:
        """The way back. Tensors: conv1 (d_1, d, w), conv_blocks, transposed where they stride, conv2 (d, d, w)."""
        blocks, outs = dict[str, Block](), (*(stage.width for stage in self.blocks[1:]), d)
        for number, (stage, out) in enumerate(zip(self.blocks, outs, strict=True)):
            plain = stage.steps == 1
            finer = conv(stage.width, out, 3) if plain else upsampling(stage.width, out, 2 * stage.steps, False)
            blocks[str(number)] = block(conv=finer, res_units=self._residuals(out))
        return block(
            "convolution",
            conv1=conv(d, self.blocks[0].width, self.kernel_size, False),
            conv_blocks=Block(blocks),
            conv2=conv(d, d, self.kernel_size, False),
        )

    def _residuals(self, width: int) -> Repeat:
        unit = block(conv1=conv(width, width, self.unit_kernel_size, False), conv2=conv(width, width, 1, False))
        return Repeat(Indices.below(self.units), unit)


class XCodec(Record):
    semantic: Semantic
    codebooks: int
    codebook_size: int
    codebook_dim: int


def spec(c: Config) -> Spec[XCodec]:
    heard, meant, words = *_parts(c), c.int("codebook_size")
    rates = c.entries("target_bandwidths")
    if not rates or not isinstance(rates[-1], int | float):
        raise c.malformed("target_bandwidths must list numbers.", "target_bandwidths")
    frames = -(-c.int("sample_rate") // product(heard.sizes(Dac).encoder.ratios))
    bits, d = max(1, ceil(log2(max(1, words)))), heard.hidden + meant.hidden
    sizes = XCodec(
        semantic=Semantic.read(c, meant.hidden),
        codebooks=Dim.named("n_q", int(1000 * rates[-1] // (int(frames) * bits)), "target_bandwidths"),
        codebook_size=keys.dim("|V|", words),
        codebook_dim=c.int("codebook_dim", default=d),
    )
    return keys.encoding(c, [], hidden=d, parts={"audio": heard, "meaning": meant}).having(sizes)


def _parts(c: Config) -> tuple[Spec, Spec]:
    heard = families.part(c, "acoustic_model_config")
    if heard.family != "dac":
        raise c.error(
            "not-described", f"acoustic_model_config is {heard.family}, but must be dac.", "acoustic_model_config"
        )
    return heard, families.part(c, "semantic_model_config")


def blueprint(s: Spec[XCodec]) -> Block:
    d, sizes, heard, meant = s.hidden, s.own, s.part("audio"), s.part("meaning")
    codec, table = families.tree(heard).children, buffer(sizes.codebook_size, sizes.codebook_dim)
    codebook = block(inited=buffer(1), cluster_size=buffer(sizes.codebook_size), embed=table, embed_avg=table)
    narrow = sizes.codebook_dim if s.family.startswith("higgs") else 0
    quantizer = block(
        codebook=codebook,
        project_in=Linear(d, narrow, True) if narrow else None,
        project_out=Linear(narrow, d, True) if narrow else None,
    )
    return block(
        acoustic_encoder=codec["encoder"],
        acoustic_decoder=codec["decoder"],
        encoder_semantic=sizes.semantic.encoder(meant.hidden),
        decoder_semantic=sizes.semantic.decoder(meant.hidden),
        semantic_model=families.tree(meant),
        fc=Linear(d, d, True, "projector"),
        fc1=Linear(d, meant.hidden, True, "projector"),
        fc2=Linear(d, heard.hidden, True, "projector"),
        quantizer=block("embedding", quantizers=Repeat(Indices.below(sizes.codebooks), quantizer)),
    )
