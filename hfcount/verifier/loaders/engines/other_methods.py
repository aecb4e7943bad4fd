"""Says what vLLM makes of ModelOpt's algorithms and of its head, and of auto-round's blocks."""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.verifier.loaders.engines.facts import Registered
from hfcount.verifier.loaders.engines.reading import (
    Difference,
    by_glob,
    mapped,
    part_of,
    projections,
    refusal,
    strings,
)
from hfcount.verifier.loaders.loader import Checkpoint

_ALGORITHMS = (
    "FP8",
    "FP8_PER_CHANNEL_PER_TOKEN",
    "FP8_PB_WO",
    "NVFP4",
    "W4A16_NVFP4",
    "MXFP8",
    "MIXED_PRECISION",
)
"""What quant_algo may say (vLLM 0.33, model_executor/layers/quantization/modelopt.py:81)."""

_HEAD = "lm_head"
_PACKED_HEAD = ("weight_scale", "weight_scale_2")
_INTEGERS = ("auto_round:auto_gptq", "auto_round:auto_awq")


_UNREAD = {
    "torchao": ("reads tensors that torchao has flattened, whose layouts are not known here", "torchao_names"),
    "mxfp4": ("is not known here to put experts in MXFP4 together as they are stored", "mxfp4_experts"),
    "modelopt_mixed": (
        "takes the method of each module from quantized_layers, and is not known here to find all",
        "modelopt_mixed",
    ),
}
"""Methods of which some is known: what is not, and the rule that says what is."""


def unread(method: str) -> Difference:
    """What is not known of a method that vLLM has."""
    says, rule = _UNREAD.get(method, (f"has {method}, whose modules and lists were not read", ""))
    return Difference("unknown", says, rule)


def of_algorithm(values: Mapping[str, Any]) -> Iterator[Difference]:
    """An algorithm of ModelOpt that vLLM does not have, in either form of the settings."""
    algorithm = (part_of(values, "quantization") or values).get("quant_algo")
    if not algorithm:
        yield Difference("refuses", "needs quant_algo in the settings of ModelOpt", "modelopt_algorithms")
    elif str(algorithm).upper() not in _ALGORITHMS:
        yield Difference("refuses", f"refuses quant_algo {algorithm} of ModelOpt", "modelopt_algorithms")


def of_head(checkpoint: Checkpoint, excluded: list[str], registered: Registered, halved: bool) -> Iterator[Difference]:
    """A head that ModelOpt's list makes packed and that is stored dense, or the reverse.

    Args:
        halved: whether a packed head has another shape than a dense one.
    """
    is_packed = any(checkpoint.has(f"{_HEAD}.{ending}") for ending in _PACKED_HEAD)
    is_stored = is_packed or checkpoint.has(f"{_HEAD}.weight")
    if not is_stored or checkpoint.values.get("tie_word_embeddings") is True:
        return
    is_built = not by_glob(_HEAD, excluded)
    if is_packed and not is_built:
        says = f"leaves {_HEAD} out of the quantisation, and refuses its scale"
        yield Difference(refusal(registered), says, "modelopt_excluded")
    elif is_built and not is_packed:
        says = f"builds {_HEAD} packed unless it is excluded"
        if halved:
            yield Difference(refusal(registered), f"{says}, which no dense weight fits", "modelopt_excluded")
        else:
            yield Difference("differs", f"{says}, whose scale is not stored", "modelopt_excluded")


def of_auto_round(checkpoint: Checkpoint, values: Mapping[str, Any], registered: Registered) -> Iterator[Difference]:
    """Integers of auto-round: the blocks that it names are packed, or all but the head where it names none."""
    if values.get("data_type", "int") != "int" or values.get("extra_config"):
        yield Difference("unknown", "is not known here to load all of auto-round", "inc_blocks")
        return
    if (packing := values.get("packing_format", _INTEGERS[0])) not in _INTEGERS:
        yield Difference("refuses", f"refuses integers of auto-round in the packing_format {packing}", "inc_format")
        return
    if values.get("bits") not in (4, 8) or values.get("sym", True) is not True or packing != _INTEGERS[0]:
        says = "is not known here to have a kernel for auto-round but of GPTQ's form in 4 or 8 bits"
        yield Difference("unknown", says, "inc_bits")
    blocks = values.get("block_name_to_quantize", values.get("to_quant_block_names"))
    names = blocks.split(",") if isinstance(blocks, str) else blocks
    begins = tuple(mapped(str(name), registered.prefixes) for name in names) if isinstance(names, list) else ()
    for stored in projections(checkpoint, ("qweight",)):
        is_built = not begins or mapped(stored.block, registered.prefixes).startswith(begins)
        if wrong := next(iter(stored.dense if is_built else stored.packed), None):
            form = "packed" if is_built else "dense"
            says = f"builds {stored.block}.{wrong} {form}, and refuses what is stored"
            yield Difference(refusal(registered), says, "inc_blocks")
            return
    if any(checkpoint.has(f"{_HEAD}.{ending}") for ending in ("qweight", "scales")):
        yield Difference(refusal(registered), f"builds {_HEAD} dense, and refuses {_HEAD}.qweight", "inc_blocks")


def excluded_by(values: Mapping[str, Any], registered: Registered) -> list[str]:
    """ModelOpt's list as vLLM reads it."""
    inner = part_of(values, "quantization")
    entries = strings(inner, "exclude_modules") if inner else strings(values, "ignore", "exclude_modules")
    return [mapped(entry, registered.prefixes) for entry in entries]
