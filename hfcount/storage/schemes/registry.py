"""Finds the file of an announced scheme; each is imported only when it is announced."""

from collections.abc import Sequence

from hfcount.storage.schemes import Announcement
from hfcount.storage.schemes.layout import Unmodelled
from hfcount.storage.schemes.scheme import Scheme

_FOREIGN = ("mlx", "modelopt", "modelopt_fp4", "modelopt_mixed", "exl3", "gptq_marlin", "awq_marlin")
"""Methods that transformers does not read. Source: transformers 5.23, quantizers/auto.py, AUTO_QUANTIZER_MAPPING."""


def described(announced: Sequence[Announcement], dtype: str | None) -> tuple[Scheme, Announcement]:
    """The first of the announced schemes that is described, and what announces it.

    Raises:
        Unmodelled: none is; the text names the first.
    """
    reasons = []
    for one in announced:
        try:
            scheme = read(one, dtype)
            scheme.text_only = one.key.startswith("text_config.")
            scheme.foreign = one.method in _FOREIGN or not one.key  # it looks into config.json alone
            return scheme, one
        except Unmodelled as said:
            reasons.append(f"{one.name} ({said})" if str(said) else one.name)
    raise Unmodelled(reasons[0])


def read(announced: Announcement, dtype: str | None) -> Scheme:
    """The scheme with its settings; `dtype` is the model's, as its config names it.

    Raises:
        Unmodelled: the scheme, or what its settings ask for, is not described.
    """
    settings = announced.settings
    match announced.method:
        case "fp8":
            from hfcount.storage.schemes import fp8

            return fp8.read(settings)
        case "mxfp8":
            from hfcount.storage.schemes import fp8

            return fp8.read_powers(settings)
        case "compressed-tensors":
            from hfcount.storage.schemes import compressed_tensors

            return compressed_tensors.read(settings)
        case "modelopt" | "modelopt_fp4" | "modelopt_mixed":
            from hfcount.storage.schemes import modelopt

            return modelopt.read(settings)
        case "gptq" | "gptq_marlin":
            from hfcount.storage.schemes import gptq

            return gptq.read(settings)
        case "auto-round" | "intel/auto-round":
            from hfcount.storage.schemes import auto_round

            return auto_round.read(settings)
        case "awq" | "awq_marlin":
            from hfcount.storage.schemes import awq

            return awq.read(settings)
        case "bitsandbytes":
            from hfcount.storage.schemes import bitsandbytes

            return bitsandbytes.read(settings, dtype)
        case "mxfp4":
            from hfcount.storage.schemes import mxfp4

            return mxfp4.read(settings)
        case "mlx":
            from hfcount.storage.schemes import mlx

            return mlx.read(settings)
        case "hqq":
            from hfcount.storage.schemes import hqq

            return hqq.read(settings, dtype)
        case "quanto":
            from hfcount.storage.schemes import quanto

            return quanto.read(settings)
        case "torchao":
            from hfcount.storage.schemes import torchao

            return torchao.read(settings)
        case "aqlm":
            from hfcount.storage.schemes import aqlm

            return aqlm.read(settings)
        case "bitnet":
            from hfcount.storage.schemes import bitnet

            return bitnet.read(settings)
        case "eetq":
            from hfcount.storage.schemes import eetq

            return eetq.read(settings)
        case "higgs":
            from hfcount.storage.schemes import higgs

            return higgs.read(settings)
        case "fbgemm_fp8":
            from hfcount.storage.schemes import fbgemm

            return fbgemm.read(settings)
        case "quark":
            from hfcount.storage.schemes import quark

            return quark.read(settings)
        case "exl3":
            from hfcount.storage.schemes import exl3

            return exl3.read(settings)
        case "vptq":
            from hfcount.storage.schemes import vptq

            return vptq.read(settings)
        case "fp_quant":
            from hfcount.storage.schemes import fp_quant

            return fp_quant.read(settings)
        case "spqr":
            from hfcount.storage.schemes import spqr

            return spqr.read(settings)
    raise Unmodelled("")
