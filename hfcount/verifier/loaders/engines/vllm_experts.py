"""Says what vLLM makes of quantised experts, which one module holds for all of a layer."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.verifier.loaders.engines import fp8_experts
from hfcount.verifier.loaders.engines.facts import Registered
from hfcount.verifier.loaders.engines.reading import Difference, by_regex, mapped, strings
from hfcount.verifier.loaders.loader import Checkpoint

_EXPERT = (
    r"(?P<layer>.*\.mlp\.experts)\.(?P<number>\d+|\{[^}]*\})\.(?P<part>gate_proj|up_proj|down_proj)\.(?P<leaf>\w+)"
)
_STACKED = (".experts.gate_up_proj", ".experts.down_proj")
_PARTS = ("gate_proj", "up_proj", "down_proj")
_SCALED = {"weight", "weight_scale_inv"}


def differences(
    checkpoint: Checkpoint, method: str, values: Mapping[str, Any], registered: Registered
) -> Iterator[Difference]:
    """What it makes of experts that are stacked or stored one by one; what its source does not settle is unknown."""
    if method == "compressed-tensors" and "pack" in str(values.get("format")) and registered.is_strict:
        yield from _of_packed(checkpoint, values, registered)
    is_settled = method == "fp8" and (
        _are_settled(checkpoint, values, registered) or fp8_experts.are_settled(checkpoint, values, registered)
    )
    if not is_settled:
        yield Difference("unknown", "is not known here to load quantised experts as they are stored", registered.skips)


def _of_packed(checkpoint: Checkpoint, values: Mapping[str, Any], registered: Registered) -> Iterator[Difference]:
    """Dense stacks that no list names, for which the module has no parameter; projections that are not listed alike."""
    ignored = [entry if "." not in entry else mapped(entry, registered.prefixes) for entry in strings(values, "ignore")]
    groups = values.get("config_groups")
    every = groups.values() if isinstance(groups, Mapping) else ()
    if not any(isinstance(group, Mapping) and "Linear" in strings(group, "targets") for group in every):
        return
    for name in checkpoint.names():
        if not name.endswith(_STACKED):
            continue
        layer = mapped(name, registered.prefixes).rpartition(".")[0]
        listed = [by_regex(f"{layer}.0.{part}", ignored) for part in _PARTS]
        if len(set(listed)) > 1:
            yield Difference("refuses", f"refuses {layer}, of which some projections are ignored", "expert_shards")
            return
        if not listed[0]:
            says = f"builds {layer} packed, and has no parameter for {name}, which is stacked and dense"
            yield Difference("refuses", says, "expert_parameter")
            return


def _are_settled(checkpoint: Checkpoint, values: Mapping[str, Any], registered: Registered) -> bool:
    """Whether every expert is stored by itself, with its scale, and every router is dense and listed by its full name.

    The parts of an expert are then put into the parameters of the module by their names (routed_experts.py:1028).
    """
    if not registered.router or not isinstance(values.get("weight_block_size"), list):
        return False
    ignored = set(strings(values, "ignored_layers", "modules_to_not_convert"))
    leaves: dict[str, set[str]] = {}
    for name in checkpoint.names():
        if match := re.fullmatch(_EXPERT, name):
            leaves.setdefault(f"{match['layer']}.{match['number']}.{match['part']}", set()).add(match["leaf"])
        elif ".experts." in name or (name.endswith(".mlp.gate.weight") and name.removesuffix(".weight") not in ignored):
            return False
    layers = {module.rsplit(".", 2)[0] for module in leaves}
    if any(layer in entry for layer in layers for entry in ignored):
        return False
    return bool(leaves) and all(found == _SCALED for found in leaves.values())
