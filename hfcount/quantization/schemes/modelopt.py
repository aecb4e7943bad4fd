"""ModelOpt of NVIDIA: FP8, NVFP4, integers, and mixtures that name the algorithm of each layer."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from hfcount.quantization import layouts
from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import DENSE, Choice, Module, Scheme, excludes, relative, usual
from hfcount.quantization.settings import Contradiction, Settings, against, group, number, table, texts, word
from hfcount.text import printable

_SCALAR = ("F32", "BF16")


@dataclass(frozen=True, slots=True)
class Fp8(Layout):
    """FP8 with one scale a tensor."""

    label = "FP8 with one scale a tensor"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        scales = [PackedTensor(".weight_scale", (), _SCALAR), PackedTensor(".input_scale", (), _SCALAR)]
        return [PackedTensor(".weight", (outputs, inputs), ("F8_E4M3",)), *scales]


@dataclass(frozen=True, slots=True)
class Fp8Rows(Layout):
    """FP8_PER_CHANNEL_PER_TOKEN: FP8 with a scale a row."""

    label = "FP8 with a scale a row"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        return [
            PackedTensor(".weight", (outputs, inputs), ("F8_E4M3",)),
            PackedTensor(".weight_scale", (outputs,), ("F32",)),
        ]


@dataclass(frozen=True, slots=True)
class Fp8Blocks(Layout):
    """FP8_PB_WO: FP8 in blocks of 128×128, whose scales have four axes."""

    label = "FP8 in blocks of 128×128"

    @property
    def grain(self) -> tuple[int, int]:
        return 128, 128

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        grid = (ceil_div(outputs, 128), 1, ceil_div(inputs, 128), 1)
        return [PackedTensor(".weight", (outputs, inputs), ("F8_E4M3",)), PackedTensor(".weight_scale", grid, ("F32",))]


@dataclass(frozen=True, slots=True)
class Nvfp4(layouts.Nvfp4):
    """NVFP4; with `smoothed`, inputs may be scaled before."""

    smoothed: bool = False
    global_scale = PackedTensor(".weight_scale_2", (), _SCALAR)
    inputs = PackedTensor(".input_scale", (), _SCALAR)

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        smoothed = [PackedTensor(".pre_quant_scale", (inputs,), (), False, usual=False)] if self.smoothed else []
        return [*layouts.Nvfp4.parts(self, outputs, inputs), *smoothed]


@dataclass(frozen=True, slots=True)
class Int4(Layout):
    """W4A16_AWQ and W4A8_AWQ: two rows a byte. A norm before a module takes in its scales, where there is one."""

    group: int
    inputs_too: bool = False

    @property
    def label(self) -> str:
        return f"4-bit integers, groups of {self.group}"

    @property
    def grain(self) -> tuple[int, int]:
        return 2, self.group

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        scalars = [PackedTensor(".weight_scale_2", (), _SCALAR), PackedTensor(".input_scale", (), _SCALAR)]
        return [
            PackedTensor(".weight", (ceil_div(outputs, 2), inputs), ("U8",)),
            PackedTensor(".weight_scale", (outputs, ceil_div(inputs, self.group)), ("F32", "BF16", "F16")),
            *(scalars if self.inputs_too else []),
            PackedTensor(".pre_quant_scale", (inputs,), (), False, usual=False),
        ]


@dataclass(frozen=True, slots=True)
class Int8(Layout):
    """Integers of 8 bits: of the weights alone (W8A16), or of inputs, too, which SmoothQuant scales before."""

    inputs_too: bool = True
    label = "8-bit integers with a scale a row"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        smoothed = [PackedTensor(".input_scale", (), _SCALAR), PackedTensor(".pre_quant_scale", (inputs,), (), False)]
        weight = [
            PackedTensor(".weight", (outputs, inputs), ("I8",)),
            PackedTensor(".weight_scale", (outputs,), ("F32",)),
        ]
        return weight + (smoothed if self.inputs_too else [])


@dataclass(frozen=True, slots=True)
class Stack(Layout):
    """A stack of experts' matrices (inputs, outputs), with scalars of the whole stack."""

    layout: Layout

    @property
    def label(self) -> str:
        return f"{self.layout.label}, as a stack"

    @property
    def grain(self) -> tuple[int, int]:
        return self.layout.grain

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        return [
            part._replace(suffix=f"_{part.suffix[1:]}" if place else "", shape=part.shape[::-1])
            for place, part in enumerate(self.layout.parts(outputs, inputs))
        ]


class ModelOpt(Scheme):
    """One algorithm for all linear maps that are not excluded, or one for each named layer."""

    name = "modelopt"

    def __init__(
        self, layout: Layout | None, layers: list[tuple[Matcher, Layout]], excluded: Matcher, caches: bool
    ) -> None:
        self.caches = caches
        self._layout, self._layers, self._excluded = layout, layers, excluded
        self.matchers = (excluded, *(matcher for matcher, _ in layers))

    @property
    def layouts(self) -> Iterable[Layout]:
        layouts = [self._layout] if self._layout else []
        layouts += [layout for _, layout in self._layers]
        # Exports that mix algorithms do not always say so, and stored names tell them apart.
        candidates = list(dict.fromkeys([*layouts, Nvfp4(), Nvfp4(False), Fp8()]))
        return [*candidates, *map(Stack, candidates)]

    def choose(self, module: Module) -> Choice:
        if module.component != "experts" or module.linear:
            return self._choose(module)
        choice = self._choose(module._replace(linear=True))
        return choice._replace(layout=Stack(choice.layout), strictly=None) if choice.layout else choice

    def _choose(self, module: Module) -> Choice:
        for matcher, layout in self._layers:
            if matcher.find(module.name):
                return Choice(layout)
        hit = excludes(self._excluded, module)
        if hit == "own" or self._layout is None:
            return DENSE
        choice = usual(module, self._layout, towers=False)
        return relative(choice) if hit else choice


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: modelopt`, of hf_quant_config.json or of quantization_config.

    Raises:
        Unmodelled: its algorithm is not described.
    """
    settings = table(settings, "quantization") or settings
    sizes = _sizes(settings)
    if sizes:  # models are built by the groups of the config, whatever else it says
        settings = {**settings, "group_size": next(iter(sizes.values()))}
    algorithm = word(settings, "quant_algo")
    contradictions = _contradictions(settings, algorithm)
    excluded = Matcher(texts(settings, "exclude_modules", "ignore") or (), "shell")
    caches = bool(word(settings, "kv_cache_quant_algo") or table(settings, "kv_cache_scheme"))
    if algorithm == "mixed_precision":
        named: dict[Layout, list[str]] = {}
        for name, module_settings in table(settings, "quantized_layers").items():
            module_settings = module_settings if isinstance(module_settings, dict) else {}
            module_settings = {**module_settings, "group_size": sizes[name]} if name in sizes else module_settings
            named.setdefault(_layout(word(module_settings, "quant_algo"), module_settings), []).append(name)
        if not named:
            raise Unmodelled("MIXED_PRECISION without quantized_layers")
        return ModelOpt(None, [(Matcher(names, "shell"), layout) for layout, names in named.items()], excluded, caches)
    scheme = ModelOpt(_layout(algorithm, settings), [], excluded, caches)
    scheme.contradictions = contradictions
    return scheme


def _contradictions(settings: Settings, algorithm: str) -> list[Contradiction]:
    """Numbers that the algorithm rules out."""
    name = f"quant_algo {algorithm.upper()}"
    small = algorithm in ("mxfp4", "mxfp8")
    result = against(settings, "group_size", 32, name) if small else []
    for group_name, values in table(settings, "config_groups").items():
        weights = table(values, "weights") if isinstance(values, dict) else {}
        place = f"config_groups.{printable(group_name, 40)}.weights."
        if algorithm in _ALGORITHMS:
            result += against(weights, "num_bits", _ALGORITHMS[algorithm][0], name, place)
        if small:
            result += against(weights, "group_size", 32, name, place)
    return result


def _sizes(settings: Settings) -> dict[str, int]:
    """The elements of a group by what `config_groups` names."""
    sizes: dict[str, int] = {}
    for values in table(settings, "config_groups").values():
        values = values if isinstance(values, dict) else {}
        size = table(values, "weights").get("group_size")
        if type(size) is int:
            sizes |= dict.fromkeys(texts(values, "targets") or ("",), size)
    return sizes


def _group(settings: Settings, default: int = 16) -> int:
    return group(settings, "group_size", default=default) or default


def _int4(settings: Settings, inputs_too: bool = False) -> Layout:
    return Int4(number(settings, "group_size", default=128) or 128, inputs_too)


_ALGORITHMS: Mapping[str, tuple[int, Callable[[Settings], Layout]]] = {
    "fp8": (8, lambda _: Fp8()),
    "fp8_per_channel_per_token": (8, lambda _: Fp8Rows()),
    "fp8_pb_wo": (8, lambda _: Fp8Blocks()),
    "fp8_pb_real": (8, lambda _: Fp8Blocks()),
    "nvfp4": (4, lambda settings: Nvfp4(group=_group(settings))),
    "nvfp4_fp4": (4, lambda settings: Nvfp4(group=_group(settings))),
    "nvfp4_awq": (4, lambda settings: Nvfp4(group=_group(settings), smoothed=True)),
    "w4a16_nvfp4": (4, lambda settings: Nvfp4(False, _group(settings))),
    "w4a8_nvfp4_fp8": (4, lambda settings: Nvfp4(group=_group(settings, 32))),
    "mxfp4": (4, lambda _: layouts.Mx(4)),
    "mxfp8": (8, lambda _: layouts.Mx(8)),
    "w4a16_awq": (4, _int4),
    "int4_awq": (4, _int4),
    "w4a8_awq": (4, lambda settings: _int4(settings, True)),
    "int8_sq": (8, lambda _: Int8()),
    "w8a8_sq_per_channel": (8, lambda _: Int8()),
    "w8a16": (8, lambda _: Int8(False)),
}
"""Bits of a weight and the layout, by algorithm."""


def _layout(algorithm: str, settings: Settings) -> Layout:
    _group(settings)  # which no algorithm may have wrong, used or not
    if algorithm not in _ALGORITHMS:
        raise Unmodelled(f"quant_algo {algorithm or 'is absent'}")
    return _ALGORITHMS[algorithm][1](settings)
