"""W8A8 of SGLang: 8-bit integers or floats with a scale a row; activations are quantised while it runs."""

from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import ExclusionScheme, Scheme
from hfcount.quantization.schemes.fbgemm import Rows
from hfcount.quantization.settings import Settings, texts


@dataclass(frozen=True, slots=True)
class IntegerRows(Layout):
    """The scales are a column."""

    label = "8-bit integers with a scale a row"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        return [
            PackedTensor(".weight", (outputs, inputs), ("I8",)),
            PackedTensor(".weight_scale", (outputs, 1), ("F32",)),
        ]


def read_integers(settings: Settings) -> Scheme:
    """The scheme of `quant_method: w8a8_int8`.

    Source: SGLang 0.5.23, layers/quantization/w8a8_int8.py, W8A8Int8LinearMethod.create_weights.
    """
    listed = texts(settings, "ignore")
    return ExclusionScheme("w8a8_int8", IntegerRows(), Matcher(listed, "compressed-tensors") if listed else None)


def read_floats(settings: Settings) -> Scheme:
    """The scheme of `quant_method: w8a8_fp8`, which excludes nothing.

    Source: SGLang 0.5.23, layers/quantization/w8a8_fp8.py, W8A8Fp8LinearMethod.create_weights.
    """
    return ExclusionScheme("w8a8_fp8", Rows(), None)
