"""quanto: integers or FP8 with a scale a row, or 4-bit integers in groups of 128."""

from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import InMemory, Scheme
from hfcount.quantization.settings import Settings, texts, word

_GROUP = 128


@dataclass(frozen=True, slots=True)
class Quanto(Layout):
    """`weights` is int8, float8, int4 or int2."""

    weights: str

    @property
    def label(self) -> str:
        return f"quanto {self.weights}"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        scales = [PackedTensor(".input_scale", ()), PackedTensor(".output_scale", ())]
        if self.weights in ("int8", "float8"):
            dtype = "I8" if self.weights == "int8" else "F8_E4M3"
            return [
                PackedTensor(".weight._data", (outputs, inputs), (dtype,)),
                PackedTensor(".weight._scale", (outputs, 1)),
                *scales,
            ]
        rows = ceil_div(outputs * inputs, _GROUP)
        packed = ceil_div(rows, 2 if self.weights == "int4" else 4)
        grid = [PackedTensor(f".weight.{name}", (rows, 1)) for name in ("_scale", "_shift")]
        return [PackedTensor(".weight._data._data", (packed, _GROUP), ("U8",)), *grid, *scales]


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: quanto`.

    Raises:
        Unmodelled: its weights are of another type.
    """
    weights = word(settings, "weights", default="int8")
    if weights not in ("int8", "float8", "int4", "int2"):
        raise Unmodelled(f"weights {weights}")
    skipped = texts(settings, "modules_to_not_convert")
    return InMemory("quanto", Quanto(weights), Matcher(skipped, "transformers") if skipped else None)
