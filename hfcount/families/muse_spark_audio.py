"""Muse Spark's audio tower: stages that each join samples or features, then mix them by convolutions along time."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import mlp, rms_norm
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("muse_spark_audio",)  # transformers 5.23: modeling_muse_spark.py


class MuseSparkAudio(Sizes):
    """What the tower alone has; `patch_sizes` are how many samples or features each stage joins."""

    patch_sizes: tuple[int, ...]
    conv_kernel_size: int = size("w")


def spec(c: Config) -> Spec[MuseSparkAudio]:
    widths, joined = c.ints("hidden_sizes"), c.ints("patch_sizes")
    if not len(widths) == len(joined) == c.length("depths") == c.int("num_hidden_layers"):
        said = "patch_sizes, hidden_sizes and depths must have num_hidden_layers entries each."
        raise c.error(said, "num_hidden_layers", "Correct them.")
    layers = keys.stages(c, widths, lambda d: c.times("mlp_ratio", d))
    sizes = tuple(keys.dim(f"P{place}", one) for place, one in enumerate(joined, 1))
    own = MuseSparkAudio.read(c, patch_sizes=sizes)
    hidden = layers[-1].layer.width
    return keys.encoding(c, layers, hidden=hidden, out=c.int("out_hidden_size")).having(own)


def blueprint(s: Spec[MuseSparkAudio]) -> Block:
    stages, before = dict[str, Block](), 1
    for place, (part, joined) in enumerate(zip(s.layers, s.own.patch_sizes, strict=True)):
        d, width = part.layer.width, part.layer.dense.width
        convolution = block(weight=Tensor((d, 1, s.own.conv_kernel_size)), bias=Tensor((d,)))
        table = Linear(before * joined, d, bias=True, component="embedding")
        stages[str(place)] = block(
            patch_embedder=block(proj=table, norm=rms_norm(d)),
            conv_blocks=Repeat(part.indices, block(conv=convolution, norm=rms_norm(d), mlp=mlp(d, width))),
        )
        before = d
    out = Linear(s.hidden, s.output, bias=True, component="projector")
    return block(layers=Block(stages), norm=rms_norm(s.hidden), proj=out, post_proj_norm=rms_norm(s.output))
