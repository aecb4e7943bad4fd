"""Quark of AMD: a specification of weights, inputs and outputs for all linear maps, and others by name."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import DENSE, Choice, Module, Scheme, excludes, relative, usual
from hfcount.quantization.settings import Settings, number, table, texts, word

_SCALES = ("F32", "BF16", "F16")
_PACKED = 8  # integers of 4 bits in a word
_FOUR = ("int4", "uint4")
_BYTES = {"fp8_e4m3": "F8_E4M3", "fp8_e5m2": "F8_E5M2", "int8": "I8", "uint8": "U8"}
_WHOLE = {*product(_FOUR, ("channel",)), *product(_BYTES, ("tensor", "channel"))}
"""Dtypes of weights without groups, and what a scale of theirs is of."""

_SMALL = {"fp4": 4, "fp6_e2m3": 6, "fp6_e3m2": 6}


@dataclass(frozen=True, slots=True)
class Stage(Layout):
    """Weights of one dtype, with scales per tensor, channel or group.

    Args:
        dtype: as Quark calls it.
        per: tensor, channel or group.
        group: the elements of a group; 0 if there are none.
        scale: the dtypes of scales.
        beside: suffixes of scalars of inputs and outputs, with their dtypes.
        second: what a second stage stores: the scales of the first (`fp8`), or those of integers (`int4`).
    """

    dtype: str
    per: str
    group: int = 0
    scale: tuple[str, ...] = _SCALES
    beside: tuple[tuple[str, tuple[str, ...]], ...] = ()
    second: str = ""

    @property
    def label(self) -> str:
        what = f"groups of {self.group}" if self.group else f"one scale a {self.per}"
        return f"Quark {self.dtype}{f' in {self.second}' if self.second else ''}, {what}"

    @property
    def grain(self) -> tuple[int, int]:
        return (_PACKED, self.group) if self.group and self.dtype in _FOUR else (1, self.group or 1)

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        if self.dtype in _SMALL:
            tensors = self._small(outputs, inputs)
        elif self.second:  # integers of what FP8 with one scale would be
            tensors = [
                PackedTensor(".weight", (outputs, ceil_div(inputs, _PACKED)), ("I32",)),
                PackedTensor(".weight_scale", (), _SCALES),
                PackedTensor(".weight_scale_2", (outputs,), _SCALES),
                PackedTensor(".weight_zero_point_2", (ceil_div(outputs, _PACKED),), ("I32",), False),
            ]
        elif self.dtype in _FOUR:
            tensors = self._four(outputs, inputs)
        else:
            shape, code = (outputs,) if self.per == "channel" else (), _BYTES[self.dtype]
            tensors = [
                PackedTensor(".weight", (outputs, inputs), (code,)),
                PackedTensor(".weight_scale", shape, _SCALES),
            ]
            if code in ("I8", "U8"):
                tensors.append(PackedTensor(".weight_zero_point", shape, (code,), False))
        return [*tensors, *(PackedTensor(suffix, (), dtypes) for suffix, dtypes in self.beside)]

    def _small(self, outputs: int, inputs: int) -> list[PackedTensor]:
        weight = PackedTensor(".weight", (outputs, inputs * _SMALL[self.dtype] // 8), ("U8",))
        scales = PackedTensor(".weight_scale", (outputs, ceil_div(inputs, self.group)), self.scale)
        return [weight, scales, PackedTensor(".weight_scale_2", (), _SCALES)] if self.second else [weight, scales]

    def _four(self, outputs: int, inputs: int) -> list[PackedTensor]:
        """Words of integers; groups are stored transposed, as AWQ has them."""
        words = ceil_div(outputs, _PACKED)
        weight = (inputs, words) if self.group else (outputs, ceil_div(inputs, _PACKED))
        groups = (ceil_div(inputs, self.group),) if self.group else ()
        return [
            PackedTensor(".weight", weight, ("I32",)),
            PackedTensor(".weight_scale", (*groups, outputs), _SCALES),
            PackedTensor(".weight_zero_point", (*groups, words), ("I32",), False),
        ]


class Quark(Scheme):
    """A layout for all linear maps that are not excluded, and others for those that a pattern names."""

    name = "quark"

    def __init__(
        self, layout: Layout | None, named: Sequence[tuple[Matcher, Layout | None]], excluded: Matcher, caches: bool
    ) -> None:
        self._layout, self._named, self._excluded, self.caches = layout, named, excluded, caches
        self.matchers = (excluded, *(matcher for matcher, _ in named))

    @property
    def layouts(self) -> Iterable[Layout]:
        return dict.fromkeys(layout for layout in (self._layout, *(named for _, named in self._named)) if layout)

    def choose(self, module: Module) -> Choice:
        hit = excludes(self._excluded, module)
        if hit == "own":
            return DENSE
        chosen = next((layout for matcher, layout in self._named if matcher.matches(module.name)), self._layout)
        choice = usual(module, chosen, head=True) if chosen else DENSE
        return relative(choice) if hit else choice


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: quark`.

    Raises:
        Unmodelled: one of its specifications is not described.
    """
    if word(table(settings, "export"), "weight_format", default="real_quantized") != "real_quantized":
        raise Unmodelled(f"weight_format {word(table(settings, 'export'), 'weight_format')}")
    if table(settings, "layer_type_quant_config"):
        raise Unmodelled("layer_type_quant_config")
    algorithms = settings.get("algo_config")
    for algorithm in algorithms if isinstance(algorithms, list) else [algorithms]:
        if isinstance(algorithm, dict) and word(algorithm, "name") in ("rotation", "svdquant", "online_rotation"):
            raise Unmodelled(f"algo_config {word(algorithm, 'name')}")
    # What is said of keys and values in a cache is said of the maps that make them.
    given = {**table(settings, "layer_quant_config"), **table(settings, "kv_cache_quant_config")}
    exact = sorted(given, key=lambda name: any(character in name for character in "*?["))
    named = [(Matcher([name], "shell"), _layout(table(given, name))) for name in exact]
    layout = _layout(table(settings, "global_quant_config"))
    if layout is None and not any(named_layout for _, named_layout in named):
        raise Unmodelled("no global_quant_config with weights")
    excluded = Matcher(texts(settings, "exclude") or (), "shell")
    return Quark(layout, named, excluded, bool(table(settings, "kv_cache_quant_config")))


def _layout(settings: Settings) -> Stage | None:
    """The layout of a specification; None if its weights stay as they are."""
    stages = _stages(settings.get("weight"))
    if not stages:
        return None
    if settings.get("bias") is not None:
        raise Unmodelled("bias")
    beside = (*_scalars(settings, "input"), *_scalars(settings, "output"))
    kinds = [(_dtype(stage_settings), _per(stage_settings)) for stage_settings in stages]
    first, *rest = kinds
    size = number(stages[0], "group_size") or 0 if first[1] == "group" else 0
    if first[1] == "group" and size > 0:
        stage = _grouped(first[0], rest, size, word(stages[0], "scale_format"))
    elif rest:
        integers = kinds == [("fp8_e4m3", "tensor"), ("int4", "channel")]
        stage = Stage("fp8_e4m3", "channel", second="int4") if integers else None
    else:
        stage = Stage(*first) if first in _WHOLE else None
    if stage is None:
        raise Unmodelled("weights of " + ", then ".join(f"{dtype} per {per}" for dtype, per in kinds))
    return replace(stage, beside=beside)


def _grouped(dtype: str, rest: Sequence[tuple[str, str]], size: int, scale: str) -> Stage | None:
    """The layout of groups, whose scales a second stage may store; None if that is not described."""
    if dtype in _FOUR and not rest:
        return Stage(dtype, "group", size)
    if dtype in _SMALL and not rest and scale in ("e8m0", "e5m3"):
        return Stage(dtype, "group", size, ("U8", "F8_E8M0"))
    if dtype in _SMALL and rest in ([("fp8_e4m3", "tensor")], [("fp8_e5m3", "tensor")]):
        return Stage(dtype, "group", size, ("F8_E4M3" if rest[0][0] == "fp8_e4m3" else "U8",), second="fp8")
    return None


def _scalars(settings: Settings, kind: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The suffixes and dtypes of scalars of inputs or outputs."""
    for place, stage in enumerate(_stages(settings.get(f"{kind}_tensors"))):
        if stage.get("is_dynamic") is True or _per(stage) == "group":
            continue
        if _per(stage) != "tensor":
            raise Unmodelled(f"{kind}_tensors per {_per(stage)}")
        end = "_2" if place else ""
        yield f".{kind}_scale{end}", _SCALES
        if _dtype(stage) in ("int8", "uint8"):
            yield f".{kind}_zero_point{end}", ("I8" if _dtype(stage) == "int8" else "U8",)


def _stages(value: object) -> list[Mapping[str, Any]]:
    """The stages of a specification, one after the other; none if there is none."""
    stages = value if isinstance(value, list) else [value]
    return [stage for stage in stages if isinstance(stage, dict)]


def _dtype(stage: Settings) -> str:
    """The dtype; before 0.7 a block's own was under a key beside."""
    dtype = word(stage, "dtype")
    return word(stage, "mx_element_dtype") if dtype == "mx" else dtype


def _per(stage: Settings) -> str:
    return "group" if word(stage, "dtype") == "mx" else word(stage, "qscheme").removeprefix("per_")
