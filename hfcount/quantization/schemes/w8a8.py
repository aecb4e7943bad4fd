"""W8A8 of SGLang: 8-bit integers or floats with a scale a row; activations are quantised while it runs."""

from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import ExclusionScheme, Scheme
from hfcount.quantization.schemes.fbgemm import Rows
from hfcount.quantization.settings import Settings, texts


def read_integers(settings: Settings) -> Scheme:
    """The scheme of `quant_method: w8a8_int8`.

    Source: SGLang 0.5.23, layers/quantization/w8a8_int8.py, W8A8Int8LinearMethod.create_weights.
    """
    listed = texts(settings, "ignore")
    return ExclusionScheme("w8a8_int8", Rows("I8"), Matcher(listed, "compressed-tensors") if listed else None)


def read_floats(settings: Settings) -> Scheme:
    """The scheme of `quant_method: w8a8_fp8`, which excludes nothing.

    Source: SGLang 0.5.23, layers/quantization/w8a8_fp8.py, W8A8Fp8LinearMethod.create_weights.
    """
    return ExclusionScheme("w8a8_fp8", Rows(), None)
