"""Says which groups of compressed-tensors SGLang has a scheme for."""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.verifier.loaders.engines.reading import Difference, part_of, strings

_ACTIVE = ("naive-quantized", "int-quantized", "float-quantized", "nvfp4-pack-quantized", "pack-quantized")
"""Formats whose activations it reads; for the others it has no scheme but packed integers (utils.py)."""

_PACKED_BITS, _KERNEL_GROUPS = (4, 8), (None, -1, 32, 64, 128)
_ROWS = ("tensor", "channel")


def targets(values: Mapping[str, Any]) -> list[str]:
    """The targets of all groups, in their order."""
    return [target for group in _groups(values) for target in strings(group, "targets")]


def renames(values: Mapping[str, Any]) -> bool:
    """Whether packed weights have names of their own, in any group."""
    return any("pack" in str(group.get("format") or values.get("format")) for group in _groups(values))


def of_groups(values: Mapping[str, Any]) -> Iterator[Difference]:
    """Groups for which it has no scheme, or whose scheme is not known to read all that is stored."""
    sparsity = values.get("sparsity_config")
    if isinstance(sparsity, Mapping) and sparsity.get("targets"):
        says = "is not known here to load sparse weights, of which it refuses those of 2:4 in 8 bits"
        yield Difference("unknown", says, "ct_sparsity")
    if values.get("linear_fp8_config"):
        yield Difference("unknown", "takes linear_fp8_config for every linear layer", "ct_scheme")
    for group in _groups(values):
        yield from _of_group(group, group.get("format") or values.get("format"))


def _groups(values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    groups = values.get("config_groups")
    return [group for group in groups.values() if isinstance(group, Mapping)] if isinstance(groups, Mapping) else []


def _of_group(group: Mapping[str, Any], form: object) -> Iterator[Difference]:
    weights = part_of(group, "weights")
    if weights is None:
        yield Difference("unknown", "is not known here to take a group without weights", "ct_scheme")
        return
    inputs = part_of(group, "input_activations") if form in _ACTIVE else None
    if _kind(weights) == "int" and inputs is None and weights.get("strategy") in ("channel", "group"):
        yield from _of_packed(weights, form)
    elif form not in _ACTIVE or not (_is_fp4(weights, inputs) or _is_fp8(weights, inputs) or _is_int8(weights, inputs)):
        says = f"has no scheme for {_bits(weights)} bits of {_kind(weights)} in the format {form}"
        yield Difference("refuses", f"{says} with such inputs" if inputs else says, "ct_scheme")


def _of_packed(weights: Mapping[str, Any], form: object) -> Iterator[Difference]:
    """Packed integers without inputs."""
    if form != "pack-quantized" or _bits(weights) not in _PACKED_BITS:
        yield Difference("refuses", f"refuses {_bits(weights)} bits of integers in the format {form}", "ct_packed")
    elif weights.get("actorder") in ("group", True):
        says = (
            "keeps one weight_g_idx for projections that it puts together, and is not known here to find theirs alike"
        )
        yield Difference("unknown", says, "ct_index")
    elif weights.get("group_size") not in _KERNEL_GROUPS:
        says = f"is not known here to have a kernel for groups of {weights.get('group_size')}"
        yield Difference("unknown", says, "gptq_group")
    elif weights.get("symmetric") is False and _bits(weights) != 4:
        yield Difference("unknown", "is not known here to have a kernel for 8 bits with zero points", "gptq_group")


def _bits(arguments: Mapping[str, Any]) -> object:
    return arguments.get("num_bits", 8)


def _kind(arguments: Mapping[str, Any]) -> object:
    return arguments.get("type", "int")


def _is_static(arguments: Mapping[str, Any]) -> bool:
    return not arguments.get("dynamic", False)


def _is_symmetric(arguments: Mapping[str, Any]) -> bool:
    return arguments.get("symmetric", True) is True


def _is_fp4(weights: Mapping[str, Any], inputs: Mapping[str, Any] | None) -> bool:
    """NVFP4, with inputs in the same or without any."""
    sides = [weights] if inputs is None else [weights, inputs]
    return all(
        (_kind(side), _bits(side), side.get("strategy"), side.get("group_size")) == ("float", 4, "tensor_group", 16)
        and _is_symmetric(side)
        for side in sides
    )


def _is_fp8(weights: Mapping[str, Any], inputs: Mapping[str, Any] | None) -> bool:
    strategies = (*_ROWS, "block") if inputs is not None and _kind(inputs) == "float" else _ROWS
    if (_kind(weights), _bits(weights)) != ("float", 8) or not (_is_symmetric(weights) and _is_static(weights)):
        return False
    if weights.get("strategy") in _ROWS:
        return True
    fits = inputs is not None and (
        not _is_static(inputs) or (_is_symmetric(inputs) and inputs.get("strategy") == "tensor")
    )
    return fits and weights.get("strategy") in strategies


def _is_int8(weights: Mapping[str, Any], inputs: Mapping[str, Any] | None) -> bool:
    if inputs is None or (_bits(weights), _bits(inputs)) != (8, 8) or weights.get("strategy") not in _ROWS:
        return False
    strategy = "tensor" if _is_static(inputs) else "token"
    return _is_symmetric(weights) and _is_static(weights) and inputs.get("strategy") == strategy
