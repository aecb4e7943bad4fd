"""Adds densely stored modules to a quantisation's list of exclusions."""

from collections.abc import Iterator

from hfcount.fetcher.layout import CONFIG
from hfcount.mapper.whatif import get, steps
from hfcount.quantization.packing.packed import Packed
from hfcount.quantization.scheme import RELATIVE
from hfcount.repair.members import with_value
from hfcount.repair.state import BLINDING, Proposal, State
from hfcount.text import plural, printable
from hfcount.verifier.loaders.compressed_tensors import COMPRESSED, NAME
from hfcount.verifier.match import Match
from hfcount.verifier.rules.hf502_packed_differently import ModulesDiffer

_LISTS = {
    "fp8": ("modules_to_not_convert", "ignored_layers"),
    "awq": ("modules_to_not_convert",),
    "compressed-tensors": ("ignore",),
    "bitsandbytes": ("llm_int8_skip_modules",),
}
"""Settings that list exclusions, by method; the first is used if none is set."""

_FUSED = ({"q_proj", "k_proj", "v_proj"}, {"gate_proj", "up_proj"})
"""Projections that servers fuse, which must be packed or dense together."""

_MOST = 200  # modules that are listed one by one


def excluded(state: State) -> Iterator[Proposal]:
    """Completes the list of excluded modules."""
    packed = state.run.outcome.packed
    findings = _reported(state)
    config = packed.announced if packed else None
    if not packed or not config or not config.key or not findings or not BLINDING.isdisjoint(state.codes):
        return
    if config.method not in _LISTS or not all(finding.dense or finding.reason for finding in findings):
        return
    settings = state.values
    for step in steps(config.key):
        settings = get(settings, step)
    name = next((list_name for list_name in _LISTS[config.method] if settings.get(list_name)), _LISTS[config.method][0])
    listed = settings.get(name) or []
    if not isinstance(listed, list):
        return
    dense = _dense(packed, bool(listed))
    if len(dense) <= _MOST and _together(dense):
        text = with_value(state.config, [*config.key.split("."), name], [*listed, *dense])
        says = f"Add {plural(len(dense), 'module')} to {config.key}.{name}, such as {printable(dense[0])}."
        yield Proposal(frozenset({"HF502"}), says, {CONFIG: text.encode()})


def compressed(state: State) -> Iterator[Proposal]:
    """Says of packed tensors that they are compressed, without which transformers builds no packed modules."""
    packed = state.run.outcome.packed
    config = packed.announced if packed else None
    if not packed or not config or not config.key or config.method != NAME or "HF114" not in state.codes:
        return
    if config.settings.get("quantization_status") != COMPRESSED and any(module.layout for module in packed.modules):
        path = [*config.key.split("."), "quantization_status"]
        text = with_value(state.config, path, COMPRESSED)
        says = f"Set {config.key}.quantization_status to {COMPRESSED}."
        yield Proposal(frozenset({"HF114"}), says, {CONFIG: text.encode()})


def _reported(state: State) -> list[ModulesDiffer]:
    """The findings of modules that a list lacks, or names in part only."""
    modules = [finding for finding in state.about("HF502") if isinstance(finding, ModulesDiffer)]
    return [finding for finding in modules if not finding.reason or _is_missed(state, finding)]


def _is_missed(state: State, finding: ModulesDiffer) -> bool:
    """Whether transformers, which compares the whole path of a module, packs what the list names in part."""
    return "HF114" in state.codes and finding.reason == RELATIVE.why


def _dense(packed: Packed[Match], listed: bool) -> list[str]:
    """The densely stored modules.

    Loaders exclude some modules by default only while nothing is listed.
    """
    path = packed.scheme.path or (lambda name: name)
    return [
        path(name.removesuffix(".weight"))
        for module in packed.modules
        if module.layout is None and module.leaf.linear and (module.choice.layout or module.choice.noted or not listed)
        for name in module.leaf.names()
    ]


def _together(modules: list[str]) -> bool:
    """Whether each group of fused projections is listed in full or not at all."""
    among: dict[str, set[str]] = {}
    for module in modules:
        parent, _, last = module.rpartition(".")
        among.setdefault(parent, set()).add(last)
    return all(fused <= names or fused.isdisjoint(names) for names in among.values() for fused in _FUSED)
