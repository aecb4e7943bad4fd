"""MobileNetV5, Gemma 3n's vision tower: inverted residuals and attention with one key (arXiv:2404.10518)."""

from typing import NamedTuple

from hfcount.architectures import keys
from hfcount.architectures.layers import rms_norm
from hfcount.architectures.layers.vision import convolution
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, Tensor, Undescribed, block

MODEL_TYPES = ("gemma3n_vision",)  # transformers 5.23: modeling_timm_wrapper.py
IGNORED = ("vocab_offset", "vocab_size", "do_pooling")


class Residual(NamedTuple):
    """A wide block between two projections; kernels of 0 stand for no convolution."""

    times: int
    start: int = 0
    middle: int = 0


class Attention(NamedTuple):
    """Attention whose heads share one key and value, which see a smaller image if it is `narrowed`."""

    heads: int
    width: int
    narrowed: bool = False


_THIN = Residual(2)
# Per stage, its width and runs of blocks: how often, and which.
_STAGES: tuple[tuple[int, tuple[tuple[int, tuple[Residual | Attention, ...]], ...]], ...] = (
    (256, ((1, (Residual(6, 3, 5),)), (2, (Residual(4, 5), Residual(4, 3))))),
    (
        640,
        (
            (1, (Residual(6, 5, 5),)),
            (7, (Residual(4, 5),)),
            (1, (Residual(1),)),
            (14, (Attention(12, 64, True), _THIN)),
        ),
    ),
    (1280, ((1, (Residual(6, 5, 5),)), (19, (Attention(16, 96), _THIN)))),
)
_STEM, _FIRST, _OUT = 64, 128, 2048


class Gemma3nVision(Sizes):
    known: bool


def spec(c: Config) -> Spec[Gemma3nVision]:
    known = c.str("architecture", default="mobilenetv5_300m_enc") == "mobilenetv5_300m_enc"
    sizes = Gemma3nVision.read(c, known=known and not c.object("model_args"))
    return keys.encoding(c, (), hidden=c.int("hidden_size")).having(sizes)


def blueprint(s: Spec[Gemma3nVision]) -> Block:
    if not s.own.known:
        return block(timm_model=Undescribed("of timm's models only mobilenetv5_300m_enc is described"))
    first = {}
    for number, before in enumerate((_STEM, _FIRST, _FIRST)):
        wide = 4 * before
        two = {"conv_pwl": convolution(wide, _FIRST, 1, False), "bn2": rms_norm(_FIRST)}
        first[str(number)] = Block({"conv_exp": convolution(before, wide, 3, False), "bn1": rms_norm(wide), **two})
    stages: dict[str, Node] = {"0": Block(first)}
    before = _FIRST
    for number, (width, runs) in enumerate(_STAGES, 1):
        layers: list[Node] = []
        place = 0
        for count, pattern in runs:
            for offset, kind in enumerate(pattern):
                where = Indices.of(range(place + offset, place + count * len(pattern), len(pattern)))
                made = _attention(width, kind) if isinstance(kind, Attention) else _residual(before, width, kind)
                layers.append(Repeat(where, made))
            place, before = place + count * len(pattern), width
        stages[str(number)] = tuple(layers)
    joined = _STAGES[-2][0] + _STAGES[-1][0]
    fusion = block("projector", ffn=_residual(joined, _OUT, _THIN, scaled=False), norm=rms_norm(_OUT))
    stem = block("embedding", conv=convolution(3, _STEM, 3), bn=rms_norm(_STEM))
    return block(timm_model=block(conv_stem=stem, blocks=Block(stages), msfa=fusion))


def _residual(inputs: int, outputs: int, residual: Residual, scaled: bool = True) -> Block:
    wide = residual.times * inputs

    def normed(width: int, conv: Block) -> Block:
        return block(conv=conv, bn=rms_norm(width))

    def deep(width: int, kernel: int) -> Block | None:
        return normed(width, block(weight=Tensor((width, 1, kernel, kernel)))) if kernel else None

    return block(
        dw_start=deep(inputs, residual.start),
        pw_exp=normed(wide, convolution(inputs, wide, 1, False)),
        dw_mid=deep(wide, residual.middle),
        pw_proj=normed(outputs, convolution(wide, outputs, 1, False)),
        layer_scale=block(gamma=Tensor((outputs,))) if scaled else None,
    )


def _attention(d: int, attention: Attention) -> Block:
    narrowing = block(down_conv=block(weight=Tensor((d, 1, 3, 3))), norm=rms_norm(d)) if attention.narrowed else block()
    shared = Block({**narrowing.children, "proj": convolution(d, attention.width, 1, False)})
    inner = attention.heads * attention.width
    return block(
        norm=rms_norm(d),
        attn=block(
            "attention",
            query=block(proj=convolution(d, inner, 1, False)),
            key=shared,
            value=shared,
            output=block(proj=convolution(inner, d, 1, False)),
        ),
        layer_scale=block(gamma=Tensor((d,))),
    )
