"""Repairs tensor names with a wrapper's prefix or in an old spelling."""

from collections.abc import Iterator, Mapping

from hfcount.fetcher.layout import INDEX
from hfcount.formats.safetensors import Shard
from hfcount.repair.headers import renamed
from hfcount.repair.members import with_keys
from hfcount.repair.state import Proposal, State
from hfcount.repair.working_copy import Change, NewHeader
from hfcount.text import plural
from hfcount.verifier.loaders.labels import DIFFUSERS, NEWEST
from hfcount.verifier.match import Match
from hfcount.verifier.rules.hf209_name_differs import NameDiffers
from hfcount.verifier.wrappers import peel

_DOUBTS = {
    "diffusers": f"{DIFFUSERS} loads the present names, too.",
    "foreign": "It is not known whether loaders of this quantisation read the present names, too.",
}

_ADAPTER_LOST = (
    "The adapter that such names come from stays lost: what is left may be the model before training. If you still"
    " have the adapter, merge it instead."
)


def unwrapped(state: State) -> Iterator[Proposal]:
    """Removes a wrapper's additions, if the tensors are exactly the model's."""
    match = _match(state)
    wrapped = match.wrapped if match else None
    if not wrapped or not wrapped.pairs or wrapped.added or wrapped.flat:
        return
    if all(wrapper.around for wrapper in wrapped.wrappers):
        stored = [name for shard in state.shards.values() if shard.header for name in shard.header.tensors]
        # Those that the config does not describe have the same added to them.
        _, bare = peel(stored) if wrapped.wrappers else (None, {})
        rest = {name: bare.get(name, name).removeprefix(wrapped.outer) for name in stored}
        rest |= dict(wrapped.pairs)
        if len({*rest.values()}) < len(rest):
            return  # two would have the same name
        doubt = _ADAPTER_LOST if wrapped.lost else ""
        yield from _renaming(state, "HF211", {old: new for old, new in rest.items() if old != new}, doubt)


def respelled(state: State) -> Iterator[Proposal]:
    """Renames tensors whose names transformers converts."""
    match = _match(state)
    if match and match.renamed:
        effects = {finding.effect for finding in state.about("HF209") if isinstance(finding, NameDiffers)}
        doubt = next(
            (_DOUBTS[effect] for effect in effects if effect in _DOUBTS), f"{NEWEST} loads the present names, too."
        )
        yield from _renaming(state, "HF209", dict(match.renamed), doubt)


def _match(state: State) -> Match | None:
    """The match of stored names with the config's."""
    outcome = state.run.outcome
    return outcome.packed.match if outcome.packed else outcome.match


def _renaming(state: State, code: str, names: Mapping[str, str], doubt: str = "") -> Iterator[Proposal]:
    files = {file: renamed_ for file, shard in state.shards.items() if (renamed_ := _within(shard, names))}
    changes: dict[str, Change] = {}
    for file, renamed_ in files.items():
        header = state.shards[file].header
        if header is None or not set(renamed_.values()).isdisjoint(header.tensors.keys() - renamed_.keys()):
            return
        changes[file] = NewHeader(header.raw, renamed(header, renamed_))
    if state.index:
        changes[INDEX] = with_keys(state.index, ("weight_map",), names).encode()
    example, wanted = next(iter(names.items()))
    says = f"Rename {plural(len(names), 'tensor')}, such as {example} to {wanted}: only headers change."
    yield Proposal(frozenset({code}), says, changes, files, doubt=doubt)


def _within(shard: Shard, names: Mapping[str, str]) -> dict[str, str]:
    tensors = shard.header.tensors if shard.header else ()
    return {name: names[name] for name in tensors if name in names}
