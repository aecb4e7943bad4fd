"""The schemes: a file for each, and a row for each method that settings may announce."""

from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple, cast

from hfcount.mapper.quantization_config import Announcement
from hfcount.quantization.layout import Unmodelled
from hfcount.quantization.scheme import Scheme


class Method(NamedTuple):
    """How a method's settings are read.

    Args:
        module: the scheme's file.
        reader: the function in it that takes the settings.
        typed: whether it takes the model's dtype besides, as the config names it.
        foreign: whether transformers does not read it. Source: transformers 5.23, quantizers/auto.py,
            AUTO_QUANTIZER_MAPPING.
        half: whether its tools make F16 of what they do not pack, where a config names no dtype; others make BF16.
    """

    module: str
    reader: str = "read"
    typed: bool = False
    foreign: bool = False
    half: bool = False


METHODS: dict[str, Method] = {
    "aqlm": Method("aqlm", half=True),
    "auto-round": Method("auto_round", half=True),
    "auto_awq": Method("awq", foreign=True, half=True),
    "auto_gptq": Method("gptq", foreign=True, half=True),
    "awq": Method("awq", half=True),
    "awq_marlin": Method("awq", foreign=True, half=True),
    "bitnet": Method("bitnet"),
    "bitsandbytes": Method("bitsandbytes", typed=True, half=True),
    "blockwise_int8": Method("fp8", "read_integers", foreign=True),
    "compressed-tensors": Method("compressed_tensors"),
    "eetq": Method("eetq", half=True),
    "exl3": Method("exl3", foreign=True),
    "fbgemm_fp8": Method("fbgemm"),
    "fp8": Method("fp8"),
    "fp_quant": Method("fp_quant"),
    "gpt_oss_mxfp4": Method("mxfp4", foreign=True),
    "gptq": Method("gptq", half=True),
    "gptq_marlin": Method("gptq", foreign=True, half=True),
    "higgs": Method("higgs"),
    "hqq": Method("hqq", typed=True),
    "inc": Method("auto_round", foreign=True),
    "intel/auto-round": Method("auto_round"),
    "metal": Method("metal"),
    "mistral fp8": Method("mistral", foreign=True),
    "mlx": Method("mlx", foreign=True),
    "modelopt": Method("modelopt", foreign=True),
    "modelopt_fp4": Method("modelopt", foreign=True),
    "modelopt_fp8": Method("modelopt", foreign=True),
    "modelopt_mixed": Method("modelopt", foreign=True),
    "modelopt_mxfp8": Method("modelopt", foreign=True),
    "mxfp4": Method("mxfp4"),
    "mxfp8": Method("fp8", "read_powers"),
    "quanto": Method("quanto"),
    "quark": Method("quark"),
    "quark_mxfp4": Method("quark", foreign=True),
    "spqr": Method("spqr"),
    "torchao": Method("torchao"),
    "vptq": Method("vptq"),
    "w8a8_fp8": Method("w8a8", "read_floats", foreign=True),
    "w8a8_int8": Method("w8a8", "read_integers", foreign=True),
}
"""By `quant_method`; a file is imported only when a config announces one of its methods."""


def described(announced: Sequence[Announcement], dtype: str | None) -> tuple[Scheme, Announcement]:
    """The first of the announced schemes that is described, and what announces it.

    Raises:
        Unmodelled: none is; the text names the first.
    """
    reasons = []
    for announcement in announced:
        try:
            scheme = read(announcement, dtype)
        except Unmodelled as error:
            reasons.append(f"{announcement.name} ({error})" if str(error) else announcement.name)
            continue
        scheme.text_only = announcement.key.startswith("text_config.")
        # transformers looks into config.json alone.
        scheme.foreign = METHODS[announcement.method].foreign or not announcement.key
        return scheme, announcement
    raise Unmodelled(reasons[0])


def read(announced: Announcement, dtype: str | None) -> Scheme:
    """The scheme with its settings; `dtype` is the model's, as its config names it.

    Raises:
        Unmodelled: the scheme, or what its settings ask for, is not described.
    """
    method = METHODS.get(announced.method)
    if method is None:
        raise Unmodelled("")
    reader = getattr(import_module(f"{__name__}.{method.module}"), method.reader)
    return cast(Scheme, reader(announced.settings, dtype) if method.typed else reader(announced.settings))


def rest_dtype(method: str) -> str:
    """The dtype of what a method's tools do not pack, where a config names none."""
    return "F16" if method in METHODS and METHODS[method].half else "BF16"
