"""torchao: the tensors that a weight consists of beside each other, for integers and small floats."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div, divided
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import DENSE, Choice, InMemory, Module, Scheme, usual
from hfcount.quantization.settings import Settings, group, pair, table, texts, word

_EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True)
class Bytes(Layout):
    """Integers, mostly with zero points, or FP8; `block` is (rows, columns) of a scale, None for all of an axis."""

    floats: bool
    block: tuple[int | None, int | None] = (1, None)

    @property
    def label(self) -> str:
        kind = "torchao FP8" if self.floats else "torchao int8"
        if self.block[1] is None:
            return kind if self.block[0] else f"{kind} with one scale a tensor"
        return f"{kind} in blocks of {self.block[0]}×{self.block[1]}"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        dtype = "F8_E4M3" if self.floats else "I8"
        grid = divided(outputs, self.block[0]), divided(inputs, self.block[1])
        zeros = [] if self.floats else [PackedTensor("._weight_zero_point", grid, ("I8",), False)]
        scales = PackedTensor("._weight_scale", grid, ("F32", "BF16"))
        return [PackedTensor("._weight_qdata", (outputs, inputs), (dtype,)), scales, *zeros]


@dataclass(frozen=True, slots=True)
class Unpacked(Layout):
    """Integers of few bits, each in a byte of its own, with a scale and a zero point a group."""

    group: int | None

    @property
    def label(self) -> str:
        return f"torchao integers, {f'groups of {self.group}' if self.group else 'one group a row'}"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        grid = (outputs, divided(inputs, self.group))
        scales = [PackedTensor("._weight_scale", grid), PackedTensor("._weight_zero_point", grid, ("I8",))]
        return [PackedTensor("._weight_qdata", (outputs, inputs), ("I8",)), *scales]


@dataclass(frozen=True, slots=True)
class Int4(Layout):
    """Integers of 4 bits, in one of torchao's packing formats: `plain`, `plain_int32` or `tile_packed_to_4d`."""

    group: int
    form: str = "plain"
    tile: int = 8

    @property
    def label(self) -> str:
        return f"torchao 4-bit integers ({self.form}), groups of {self.group}"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        if self.form == "tile_packed_to_4d":
            rows, columns = ceil_div(outputs, self.tile) * self.tile, ceil_div(inputs, 1024) * 1024
            weight = PackedTensor("._weight_qdata", (rows // 8, columns // 128, 32, 4), ("I32",))
            return [weight, PackedTensor("._weight_scale_and_zero", (columns // self.group, rows, 2))]
        grid = (ceil_div(inputs, self.group), outputs)
        if self.form == "plain":
            weight, zeros = (
                PackedTensor("._weight_qdata", (outputs, inputs // 2), ("I8", "U8")),
                PackedTensor("._weight_zero_point", grid),
            )
        else:
            weight = PackedTensor("._weight_qdata", (outputs, inputs // 8), ("I32",))
            zeros = PackedTensor("._weight_zero_point", grid, ("I8",))
        return [weight, PackedTensor("._weight_scale", grid), zeros]


@dataclass(frozen=True, slots=True)
class Tiled(Layout):
    """MXFP8 and NVFP4, whose scales stand in the order of tensor cores: tiles of 128 rows and four groups."""

    bits: int

    @property
    def label(self) -> str:
        return "torchao NVFP4" if self.bits == 4 else "torchao MXFP8"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        tiles = ceil_div(outputs, 128)
        if self.bits == 4:
            return [
                PackedTensor("._weight_qdata", (outputs, inputs // 2), ("U8",)),
                PackedTensor("._weight_scale", (32 * tiles, 16 * ceil_div(inputs, 64)), ("F8_E4M3",)),
                PackedTensor("._weight_per_tensor_scale", (), ("F32",), False),
            ]
        scales = PackedTensor("._weight_scale", (32 * tiles, 16 * ceil_div(inputs, 128)), ("F8_E8M0",))
        return [PackedTensor("._weight_qdata", (outputs, inputs), ("F8_E4M3",)), scales]


class Named(InMemory):
    """Layouts by the names of modules, and one for all linear maps that none of them means; None for dense.

    What a tensor consists of is JSON in the metadata (torchao 0.18: prototype/safetensors/safetensors_utils.py), which
    transformers writes whole into every file: a few hundred bytes for two or three tensors.
    """

    manifest = 512

    def __init__(
        self,
        layout: Layout | None,
        named: Sequence[tuple[Matcher, Layout | None]],
        excluded: Matcher | None,
        embeddings: bool,
    ) -> None:
        first, *others = dict.fromkeys(used for used in (layout, *(named_layout for _, named_layout in named)) if used)
        super().__init__("torchao", first, excluded, *others)
        self._default, self._named, self._embeddings = layout, named, embeddings
        self.matchers = (*self.matchers, *(matcher for matcher, _ in named))

    def choose(self, module: Module) -> Choice:
        kept = self.excluded is not None and self.excluded.matches(module.name)
        override = next(((layout,) for matcher, layout in self._named if matcher.matches(module.name)), None)
        if override and not kept and (module.component != _EMBEDDING or self._embeddings):
            return Choice(override[0])
        if self._default is None:
            return DENSE
        if self._embeddings and not kept and module.component in ("lm_head", _EMBEDDING):
            return usual(module, self._default, head=True)
        return super().choose(module)


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: torchao`.

    Raises:
        Unmodelled: its type of weights is not described.
    """
    given, default = settings.get("quant_type"), table(table(settings, "quant_type"), "default")
    skipped = texts(settings, "modules_to_not_convert")
    excluded = Matcher(skipped, "transformers") if skipped else None
    data = table(default, "_data")
    kinds = table(data, "fqn_to_config") or table(data, "module_fqn_to_config")
    if not kinds:
        kinds = {"_default": {"_type": given} if isinstance(given, str) else default}
    named = [(_pattern(name), None if values is None else _layout(values)) for name, values in _ordered(kinds)]
    default_layout = _layout(kinds["_default"]) if kinds.get("_default") is not None else None
    if default_layout is None and not any(layout for _, layout in named):
        raise Unmodelled("quant_type absent")
    return Named(default_layout, named, excluded, settings.get("include_input_output_embeddings") is True)


def _ordered(kinds: Settings) -> Iterable[tuple[str, object]]:
    """The named settings, whole names before patterns."""
    named = [(name, values) for name, values in kinds.items() if name != "_default"]
    return sorted(named, key=lambda item: item[0].startswith("re:"))


def _pattern(name: str) -> Matcher:
    if name.startswith("re:"):
        return Matcher([f"re:(?:{name[3:]})(?:\\.weight)?$"], "compressed-tensors")
    return Matcher([name.removesuffix(".weight")], "path")


def _layout(config: object) -> Layout:
    """The layout of one of torchao's configurations."""
    settings: Settings = config if isinstance(config, dict) else {}
    kind, data = str(settings.get("_type", "")), table(settings, "_data")
    if kind not in _KINDS:
        raise Unmodelled(f"quant_type {kind or 'absent'}")
    return _KINDS[kind](kind, data)


def _float8(kind: str, data: Settings) -> Layout:
    if (dtype := _said(data, "weight_dtype", "float8_e4m3fn")) != "float8_e4m3fn":
        raise Unmodelled(f"weight_dtype {dtype}")
    return Bytes(True, _block(data, (None, None) if "Dynamic" in kind else (1, None)))


def _intx(kind: str, data: Settings) -> Layout:
    if (form := _said(data, "intx_packing_format", "unpacked_to_int8")) != "unpacked_to_int8":
        raise Unmodelled(f"intx_packing_format {form}")
    granularity = table(data, "granularity" if kind.startswith("Intx") else "weight_granularity")
    if granularity.get("_type") not in ("PerGroup", "PerAxis"):
        raise Unmodelled(f"granularity {granularity.get('_type')}")
    return Unpacked(group(table(granularity, "_data"), "group_size"))


def _int4(kind: str, data: Settings) -> Layout:
    floats = kind.startswith("Float8")
    form = _said(data, "int4_packing_format", "preshuffled" if floats else "plain")
    if form not in ("plain", "plain_int32", "tile_packed_to_4d"):
        raise Unmodelled(f"int4_packing_format {form}")
    tile = group(data, "int4_tile_packed_ntile", default=8) or 8
    return Int4(128 if floats else group(data, "group_size", default=128) or 128, form, tile)


def _mx(kind: str, data: Settings) -> Layout:
    if _said(data, "weight_dtype", "float8_e4m3fn") != "float8_e4m3fn":
        raise Unmodelled(f"quant_type {kind}")
    return Tiled(8)


_KINDS: Mapping[str, Callable[[str, Settings], Layout]] = {
    "Int8WeightOnlyConfig": lambda _, data: Bytes(False, _block(data)),
    "Int8DynamicActivationInt8WeightConfig": lambda _, data: Bytes(False, _block(data)),
    "int8_weight_only": lambda *_: Bytes(False),
    "int8_dynamic_activation_int8_weight": lambda *_: Bytes(False),
    "Float8WeightOnlyConfig": _float8,
    "Float8DynamicActivationFloat8WeightConfig": _float8,
    "float8_weight_only": lambda *_: Bytes(True),
    "IntxWeightOnlyConfig": _intx,
    "Int8DynamicActivationIntxWeightConfig": _intx,
    "Int4WeightOnlyConfig": _int4,
    "Float8DynamicActivationInt4WeightConfig": _int4,
    "MXDynamicActivationMXWeightConfig": _mx,
    "NVFP4WeightOnlyConfig": lambda *_: Tiled(4),
}
"""Layouts by the class of a configuration, and by the words of early versions."""


def _said(data: Settings, key: str, default: str) -> str:
    """A dtype, or one of an enumeration, in lower case."""
    return word(table(data, key), "_data", default=word(data, key, default=default))


def _block(data: Settings, default: tuple[int | None, int | None] = (1, None)) -> tuple[int | None, int | None]:
    """Rows and columns that share a scale, of the granularity of weights."""
    given = data.get("granularity")
    granularity = given[-1] if isinstance(given, list) and given else given
    if not isinstance(granularity, dict):
        return default
    match granularity.get("_type"):
        case "PerRow":
            return 1, None
        case "PerTensor":
            return None, None
        case "PerBlock" if sizes := pair(table(granularity, "_data"), "block_size"):
            return sizes
    raise Unmodelled(f"granularity {granularity.get('_type')}")
