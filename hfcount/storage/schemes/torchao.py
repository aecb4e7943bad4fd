"""torchao: a weight's tensors beside each other, for integers in bytes and FP8."""

from collections.abc import Mapping
from dataclasses import dataclass

from hfcount.storage.schemes.layout import Layout, Part, Unmodelled, divided
from hfcount.storage.schemes.matcher import Matcher
from hfcount.storage.schemes.scheme import InMemory, Scheme
from hfcount.storage.schemes.settings import Settings, group, table, texts, word


@dataclass(frozen=True, slots=True)
class EightBits(Layout):
    """Integers, with a zero point a row, or FP8."""

    floats: bool

    @property
    def label(self) -> str:
        return "torchao FP8" if self.floats else "torchao int8"

    def parts(self, outputs: int, inputs: int) -> list[Part]:
        dtype = "F8_E4M3" if self.floats else "I8"
        zeros = [] if self.floats else [Part("._weight_zero_point", (outputs, 1), ("I8",))]
        rows = Part("._weight_scale", (outputs, 1), ("F32", "BF16"))
        return [Part("._weight_qdata", (outputs, inputs), (dtype,)), rows, *zeros]


@dataclass(frozen=True, slots=True)
class Groups(Layout):
    """Integers of few bits, each in a byte of its own, with a scale and a zero point a group."""

    group: int | None

    @property
    def label(self) -> str:
        return f"torchao integers, {f'groups of {self.group}' if self.group else 'one group a row'}"

    def parts(self, outputs: int, inputs: int) -> list[Part]:
        grid = (outputs, divided(inputs, self.group))
        scales = [Part("._weight_scale", grid), Part("._weight_zero_point", grid, ("I8",))]
        return [Part("._weight_qdata", (outputs, inputs), ("I8",)), *scales]


_KINDS: Mapping[str, Layout] = {
    "Int8WeightOnlyConfig": EightBits(False),
    "Int8DynamicActivationInt8WeightConfig": EightBits(False),
    "Float8WeightOnlyConfig": EightBits(True),
    "int8_weight_only": EightBits(False),
    "int8_dynamic_activation_int8_weight": EightBits(False),
    "float8_weight_only": EightBits(True),
}
_GROUPED = {"IntxWeightOnlyConfig": "granularity", "Int8DynamicActivationIntxWeightConfig": "weight_granularity"}
"""Types of integers of few bits, and what their groups are under."""


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: torchao`.

    Raises:
        Unmodelled: its type of weights is not described.
    """
    given, default = settings.get("quant_type"), table(table(settings, "quant_type"), "default")
    kind = given if isinstance(given, str) else str(default.get("_type", ""))
    layout = _grouped(kind, table(default, "_data")) if kind in _GROUPED else _KINDS.get(kind)
    if layout is None:
        raise Unmodelled(f"quant_type {kind or 'absent'}")
    skipped = texts(settings, "modules_to_not_convert")
    return InMemory("torchao", layout, Matcher(skipped, "transformers") if skipped else None)


def _grouped(kind: str, data: Settings) -> Layout:
    own = table(data, _GROUPED[kind])
    form = word(table(data, "intx_packing_format"), "_data", default="unpacked_to_int8")
    if form != "unpacked_to_int8":
        raise Unmodelled(f"intx_packing_format {form}")
    if own.get("_type") not in ("PerGroup", "PerAxis"):
        raise Unmodelled(f"{_GROUPED[kind]} {own.get('_type')}")
    return Groups(group(table(own, "_data"), "group_size"))
