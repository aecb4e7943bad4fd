"""Names with what a wrapper has added, or in an old spelling, replaced by those that the config describes."""

from collections.abc import Iterator, Mapping

from hfcount.fetcher.layout import INDEX
from hfcount.formats.safetensors import Shard
from hfcount.repair.headers import renamed
from hfcount.repair.members import with_keys
from hfcount.repair.state import Proposal, State
from hfcount.repair.working_copy import Change, Headed
from hfcount.text import plural
from hfcount.verifier.match import Match
from hfcount.verifier.wrappers import peel


def unwrapped(state: State) -> Iterator[Proposal]:
    """Names that a wrapper has lengthened and whose tensors are the model's own, whole and by themselves."""
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
        yield from _renaming(state, "HF211", {old: new for old, new in rest.items() if old != new})


def respelled(state: State) -> Iterator[Proposal]:
    """Names that only some loaders convert, whatever they are."""
    match = _match(state)
    if match and match.renamed:
        doubt = "transformers loads these names as they are; other loaders may not."
        yield from _renaming(state, "HF209", dict(match.renamed), doubt)


def _match(state: State) -> Match | None:
    """How the names agree with the config's."""
    outcome = state.run.outcome
    return outcome.packed.match if outcome.packed else outcome.match


def _renaming(state: State, code: str, names: Mapping[str, str], doubt: str = "") -> Iterator[Proposal]:
    files = {file: own for file, shard in state.shards.items() if (own := _within(shard, names))}
    changes: dict[str, Change] = {}
    for file, own in files.items():
        header = state.shards[file].header
        if header is None or not set(own.values()).isdisjoint(header.tensors.keys() - own.keys()):
            return
        changes[file] = Headed(header.raw, renamed(header, own))
    if state.index:
        changes[INDEX] = with_keys(state.index, ("weight_map",), names).encode()
    found, wanted = next(iter(names.items()))
    says = f"Rename {plural(len(names), 'tensor')}, such as {found} to {wanted}: headers alone change."
    yield Proposal(frozenset({code}), says, changes, files, doubt=doubt)


def _within(shard: Shard, names: Mapping[str, str]) -> dict[str, str]:
    tensors = shard.header.tensors if shard.header else ()
    return {name: names[name] for name in tensors if name in names}
