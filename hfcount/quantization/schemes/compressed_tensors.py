"""compressed-tensors of llm-compressor: groups of modules, each with its own format of weights."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter

from hfcount.quantization import layouts
from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div, divided
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import DENSE, Choice, Module, Scheme, excludes_path, relative, usual
from hfcount.quantization.schemes import sparse
from hfcount.quantization.settings import Contradiction, Settings, against, bits, group, pair, table, texts, word
from hfcount.text import printable

NOTHING: Mapping[Layout, Layout] = {}
_COMPRESSED = "compressed"
_BYTE = 8
_BYTES = ("float-quantized", "int-quantized", "naive-quantized", "")
_CLASS = "Linear"
_WIDTHS = {"nvfp4-pack-quantized": 4, "mxfp4-pack-quantized": 4, "mxfp8-quantized": 8, "float-quantized": 8}
"""Bits of a weight, by formats that have no others. Integers of fewer bits than 8 may be stored as 8."""

_NAME_OF_A_CLASS = re.compile("[A-Z][A-Za-z0-9]+")
_HEAD = "AutoRound leaves the head dense where no list names it, and servers keep every head dense"
_STACKED = "it was a stack of experts and no linear map to the tool, which left it as it is"


@dataclass(frozen=True, slots=True)
class Scales:
    """Integers or floats of so many bits, with scales per tensor, channel, group or block, as the model's dtype."""

    bits: int = 8
    strategy: str = "channel"
    group: int | None = None
    block: tuple[int, int] | None = None
    symmetric: bool = True

    def grid(self, outputs: int, inputs: int) -> tuple[int, ...]:
        """The shape of the scales."""
        if self.strategy == "tensor":
            return (1,)
        if self.strategy == "block" and self.block:
            return (ceil_div(outputs, self.block[0]), ceil_div(inputs, self.block[1]))
        return (outputs, divided(inputs, self.group))

    @property
    def grain(self) -> tuple[int, int]:
        """Outputs and inputs that belong together."""
        if self.strategy == "block" and self.block:
            return self.block
        return 1, self.group or 1

    @property
    def label(self) -> str:
        """The extent of a scale."""
        if self.strategy == "block" and self.block:
            return f"blocks of {self.block[0]}×{self.block[1]}"
        return f"groups of {self.group}" if self.group else f"one scale a {self.strategy}"


@dataclass(frozen=True, slots=True)
class Packed(Layout):
    """pack-quantized: integers of any width in 32-bit words."""

    scales: Scales
    ordered: bool = False

    @property
    def label(self) -> str:
        return f"{self.scales.bits}-bit integers, {self.scales.label}"

    @property
    def grain(self) -> tuple[int, int]:
        return self.scales.grain

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        width, (rows, groups) = self.scales.bits, self.scales.grid(outputs, inputs)
        parts = [
            PackedTensor(".weight_packed", (outputs, ceil_div(inputs * width, 32)), ("I32",)),
            PackedTensor(".weight_scale", (rows, groups)),
            PackedTensor(".weight_shape", (2,), ("I64", "I32")),
            PackedTensor(".weight_g_idx", (inputs,), ("I32",), self.ordered, usual=self.ordered),
        ]
        zeros = PackedTensor(".weight_zero_point", (ceil_div(outputs * width, 32), groups), ("I32",))
        return parts if self.scales.symmetric else [*parts, zeros]


@dataclass(frozen=True, slots=True)
class Quantized(Layout):
    """int-quantized, float-quantized and naive-quantized: one byte a weight; `static` if inputs have a scale, too."""

    scales: Scales
    static: bool = False
    dtype: str = "F8_E4M3"

    @property
    def label(self) -> str:
        kind = "FP8" if self.dtype == "F8_E4M3" else f"{self.scales.bits}-bit integers"
        return f"{kind}, {self.scales.label}"

    @property
    def grain(self) -> tuple[int, int]:
        return self.scales.grain

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        scales = self.scales.grid(outputs, inputs)
        parts = [PackedTensor(".weight", (outputs, inputs), (self.dtype,)), PackedTensor(".weight_scale", scales)]
        if not self.scales.symmetric:
            parts.append(PackedTensor(".weight_zero_point", scales, (self.dtype,)))
        if self.static:
            parts += [
                PackedTensor(".input_scale", (1,)),
                PackedTensor(".input_zero_point", (1,), (self.dtype,), False, usual=False),
            ]
        return parts


@dataclass(frozen=True, slots=True)
class Uncompressed(Layout):
    """Weights in the model's own dtype with the scales and zeros that they will be packed with, of any format.

    compressed-tensors 0.15.0, quantization/lifecycle/initialize.py:132: transformers builds modules so unless
    quantization_status is compressed. `zeros` is the dtype of zeros; `globally` says that there is a scale of all.
    """

    scales: Scales
    zeros: str = "I8"
    ordered: bool = False
    static: bool = False
    globally: bool = False

    @property
    def label(self) -> str:
        return f"dense weights beside their scales, {self.scales.label}"

    @property
    def grain(self) -> tuple[int, int]:
        return self.scales.grain

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        grid = self.scales.grid(outputs, inputs)
        parts = [
            PackedTensor(".weight", (outputs, inputs)),
            PackedTensor(".weight_scale", grid),
            PackedTensor(".weight_zero_point", grid, (self.zeros,)),
        ]
        if self.ordered:
            parts.append(PackedTensor(".weight_g_idx", (inputs,), ("I32",)))
        if self.globally:
            parts += [PackedTensor(f".{name}_global_scale", (1,), ("F32",)) for name in ("weight", "input")]
        elif self.static:
            parts += [PackedTensor(".input_scale", (1,)), PackedTensor(".input_zero_point", (1,), (self.zeros,))]
        return parts


class Nvfp4(layouts.Nvfp4):
    """nvfp4-pack-quantized."""

    weight = ".weight_packed"
    global_scale = PackedTensor(".weight_global_scale", (1,), ("F32",))
    inputs = PackedTensor(".input_global_scale", (1,), ("F32",))


class Mx(layouts.Mx):
    """mxfp4-pack-quantized and mxfp8-quantized."""

    packed = ".weight_packed"


class Groups(Scheme):
    """Groups with targets: whole names, `re:` patterns, or the class name `Linear` for all linear maps.

    Whole names win over patterns, patterns over the class, and of several patterns the first by the alphabet.
    `head_too` says whether the class names the head, too, for the tool that wrote the weights.
    """

    name = "compressed-tensors"
    by_path = True

    def __init__(
        self,
        groups: list[tuple[tuple[str, ...], Layout]],
        excluded: Matcher,
        head_too: bool = True,
        uncompressed: Mapping[Layout, Layout] = NOTHING,
    ) -> None:
        self._head_too, self._uncompressed = head_too, uncompressed
        self._excluded, self._layouts = excluded, [layout for _, layout in groups]
        self._every = next((layout for targets, layout in reversed(groups) if _CLASS in targets), None)
        named = [([target for target in targets if not target.startswith("re:")], layout) for targets, layout in groups]
        patterns = [(pattern, layout) for targets, layout in groups for pattern in targets if pattern.startswith("re:")]
        self._targets = [(Matcher(target_names, "compressed-tensors"), layout) for target_names, layout in named]
        self._targets += [
            (Matcher([target], "compressed-tensors"), layout) for target, layout in sorted(patterns, key=itemgetter(0))
        ]
        self.matchers = (excluded, *(targets for targets, _ in self._targets))

    @property
    def layouts(self) -> Iterable[Layout]:
        given = self._layouts
        # Stored names tell whether inputs have scales, too.
        given = [*given, *self._uncompressed.values()]
        return [*given, *(Nvfp4(not layout.inputs_too, layout.group) for layout in given if isinstance(layout, Nvfp4))]

    def choose(self, module: Module) -> Choice:
        hit = excludes_path(self._excluded, module, self.path)
        choice = DENSE if hit == "own" else self._targeted(module)
        if choice.layout and choice.layout in self._uncompressed:
            choice = choice._replace(strictly=self._uncompressed[choice.layout])
        return relative(choice) if hit == "inner" else choice

    def _targeted(self, module: Module) -> Choice:
        for targets, layout in self._targets:
            if targets.matches(module.name):
                return Choice(layout, _STACKED if module.component == "experts" else "")
        if self._every is None:
            return DENSE
        choice = usual(module, self._every, head=True)  # routers were linear maps to older versions, and packed
        if choice.layout and module.component == "lm_head" and not self._head_too:
            return choice._replace(why=_HEAD)
        return choice._replace(why=_STACKED) if module.component == "experts" else choice


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: compressed-tensors`.

    Raises:
        Unmodelled: it has no groups of weights, or one in a format that is not described.
    """
    inner = table(settings, "quantization_config")
    settings = inner or settings
    form = word(settings, "format")
    # Early writers left the status of the step before; the format says whether weights were compressed.
    is_compressed = word(settings, "quantization_status", default="initialized") == _COMPRESSED
    if table(settings, "transform_config").get("config_groups"):
        raise Unmodelled("transform_config")
    groups: list[tuple[tuple[str, ...], Layout]] = []
    contradictions: list[Contradiction] = []
    uncompressed = dict[Layout, Layout]()
    for name in table(settings, "config_groups"):
        group_settings = table(table(settings, "config_groups"), name)
        if weights := table(group_settings, "weights"):
            group_format = word(group_settings, "format") or form
            targets = _targets(group_settings)
            inputs = table(group_settings, "input_activations")
            groups.append((targets, _layout(group_format, weights, inputs)))
            if not is_compressed:
                uncompressed[groups[-1][1]] = _as_built(weights, inputs)
            if group_format in _WIDTHS:
                place = f"config_groups.{printable(name, 40)}.weights."
                contradictions += against(weights, "num_bits", _WIDTHS[group_format], f"format {group_format}", place)
    sparsity = table(settings, "sparsity_config")
    halved = word(sparsity, "format", default="dense") != "dense"
    if not groups and not halved and not table(settings, "kv_cache_scheme"):
        raise Unmodelled("no config_groups with weights")
    ignored = Matcher(texts(settings, "ignore") or (), "compressed-tensors")
    scheme = Groups(groups, ignored, word(settings, "provider") != "auto-round", uncompressed)
    scheme.contradictions = contradictions
    cache = table(settings, "kv_cache_scheme")
    scheme.caches, scheme.caches_heads = bool(cache), word(cache, "strategy") == "attn_head"
    scheme.caches_stored = cache.get("dynamic") is False
    if halved:
        return sparse.read(scheme if groups else None, sparsity)
    return scheme


def _targets(settings: Settings) -> tuple[str, ...]:
    targets = texts(settings, "targets") or ()
    classes = [target for target in targets if _NAME_OF_A_CLASS.fullmatch(target) and target != _CLASS]
    if classes:
        raise Unmodelled(f"targets {printable(classes[0], 40)}")
    return targets


def _layout(form: str, weights: Settings, inputs: Settings) -> Layout:
    kind, width = word(weights, "type", default="int"), bits(weights, "num_bits", default=8)
    if form == "nvfp4-pack-quantized":
        return Nvfp4(bool(inputs), group(weights, "group_size", default=16) or 16)
    if form in ("mxfp4-pack-quantized", "mxfp8-quantized"):
        return Mx(4 if form.startswith("mxfp4") else 8, group(weights, "group_size", default=32) or 32)
    if kind == "float" and form == "float-quantized":
        width = _BYTE  # whatever number stands there
    scales = _scales(weights, width)
    rows = kind == "int" and scales.strategy in ("channel", "group")
    if form == "marlin-24" and rows and scales.symmetric and width in (4, 8):
        return sparse.Marlin24(width, scales.group)
    if form == "pack-quantized" and rows:
        return Packed(scales, word(weights, "actorder") == "group")
    if form in _BYTES and (width == _BYTE or kind == "int"):
        return Quantized(scales, _static(inputs), "F8_E4M3" if kind == "float" else "I8")
    raise Unmodelled(f"format {form or 'of an unknown name'} of {width}-bit {kind}")


def _as_built(weights: Settings, inputs: Settings) -> Uncompressed:
    """The layout of a group whose modules are not compressed yet."""
    globally, is_float = word(weights, "strategy") == "tensor_group", word(weights, "type", default="int") == "float"
    known = {**weights, "strategy": "group"} if globally else weights
    return Uncompressed(
        _scales(known, bits(weights, "num_bits", default=8)),
        "F8_E4M3" if is_float else "I8",
        word(weights, "actorder") == "group",
        _static(inputs),
        globally,
    )


def _static(inputs: Settings) -> bool:
    """Whether scales of the inputs are stored."""
    return bool(inputs) and inputs.get("dynamic") in (False, None)


def _scales(weights: Settings, width: int) -> Scales:
    strategy = word(weights, "strategy", default="group" if weights.get("group_size") else "tensor")
    if strategy not in ("tensor", "channel", "group", "block"):
        raise Unmodelled(f"strategy {strategy}")
    size = group(weights, "group_size") if strategy == "group" else None
    block = pair(weights, "block_structure") if strategy == "block" else None
    return Scales(width, strategy, size, block, weights.get("symmetric") is not False)
