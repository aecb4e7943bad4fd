"""torchao: a weight's tensors beside each other, for 8-bit integers and FP8."""

from collections.abc import Mapping
from dataclasses import dataclass

from hfcount.storage.schemes.layout import Layout, Part, Unmodelled
from hfcount.storage.schemes.matcher import Matcher
from hfcount.storage.schemes.scheme import InMemory, Scheme
from hfcount.storage.schemes.settings import Settings, table, texts


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


_KINDS: Mapping[str, bool] = {
    "Int8WeightOnlyConfig": False,
    "Int8DynamicActivationInt8WeightConfig": False,
    "Float8WeightOnlyConfig": True,
    "int8_weight_only": False,
    "int8_dynamic_activation_int8_weight": False,
    "float8_weight_only": True,
}


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: torchao`.

    Raises:
        Unmodelled: its type of weights is not described.
    """
    given = settings.get("quant_type")
    kind = given if isinstance(given, str) else str(table(table(settings, "quant_type"), "default").get("_type", ""))
    if kind not in _KINDS:
        raise Unmodelled(f"quant_type {kind or 'absent'}")
    skipped = texts(settings, "modules_to_not_convert")
    return InMemory("torchao", EightBits(_KINDS[kind]), Matcher(skipped, "transformers") if skipped else None)
