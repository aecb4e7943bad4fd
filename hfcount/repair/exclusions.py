"""Modules that are stored dense and that a quantisation does not exclude, put into its list."""

from collections.abc import Iterator

from hfcount.fetcher.layout import CONFIG
from hfcount.mapper.whatif import get, steps
from hfcount.quantization.packing.packed import Packed
from hfcount.repair.members import with_value
from hfcount.repair.state import BLINDING, Proposal, State
from hfcount.text import plural, printable
from hfcount.verifier.match import Match
from hfcount.verifier.rules.hf502_packed_differently import ModulesDiffer

_LISTS = {
    "fp8": ("modules_to_not_convert", "ignored_layers"),
    "awq": ("modules_to_not_convert",),
    "compressed-tensors": ("ignore",),
    "bitsandbytes": ("llm_int8_skip_modules",),
}
"""Where the settings of a method list what is not packed; the first name if there is none yet."""

_FUSED = ({"q_proj", "k_proj", "v_proj"}, {"gate_proj", "up_proj"})
"""Projections that servers join, and that have to be packed or dense together."""

_MOST = 200  # modules that are listed one by one


def excluded(state: State) -> Iterator[Proposal]:
    """The list of excluded modules with all that are stored dense."""
    packed = state.run.outcome.packed
    findings = [one for one in state.about("HF502") if isinstance(one, ModulesDiffer) and not one.harmless]
    said = packed.announced if packed else None
    if not packed or not said or not said.key or not findings or not BLINDING.isdisjoint(state.codes):
        return
    if said.method not in _LISTS or not all(one.dense for one in findings):
        return
    settings = state.values
    for step in steps(said.key):
        settings = get(settings, step)
    name = next((one for one in _LISTS[said.method] if settings.get(one)), _LISTS[said.method][0])
    listed = settings.get(name) or []
    dense = _dense(packed, bool(listed))
    if len(dense) <= _MOST and _together(dense):
        text = with_value(state.config, [*said.key.split("."), name], [*listed, *dense])
        says = f"Add {plural(len(dense), 'module')} to {said.key}.{name}, such as {printable(dense[0])}."
        yield Proposal(frozenset({"HF502"}), says, {CONFIG: text.encode()})


def _dense(packed: Packed[Match], listed: bool) -> list[str]:
    """The modules that are stored dense.

    Where nothing is listed, loaders leave out some modules by themselves, and no longer do where something is.
    """
    return [
        name.removesuffix(".weight")
        for found in packed.modules
        if found.layout is None and found.leaf.linear and (found.choice.layout or not listed)
        for name in found.leaf.names()
    ]


def _together(modules: list[str]) -> bool:
    """Whether of projections that servers join all are among these, or none."""
    among: dict[str, set[str]] = {}
    for one in modules:
        parent, _, last = one.rpartition(".")
        among.setdefault(parent, set()).add(last)
    return all(fused <= own or fused.isdisjoint(own) for own in among.values() for fused in _FUSED)
