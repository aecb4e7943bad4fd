"""Names with what a wrapper has added, or in an old spelling, replaced by those that the config describes."""

from collections.abc import Iterator, Mapping

from hfcount.fetcher.interface import INDEX
from hfcount.formats.safetensors import Shard
from hfcount.repair.draft import Change, Headed
from hfcount.repair.headers import renamed
from hfcount.repair.members import with_keys
from hfcount.repair.state import Proposal, State
from hfcount.text import plural


def unwrapped(state: State) -> Iterator[Proposal]:
    """Names that a wrapper has lengthened and whose tensors are the model's own, whole and by themselves."""
    match = state.run.outcome.match
    wrapped = match.wrapped if match else None
    if wrapped and wrapped.pairs and not wrapped.own and not wrapped.flat:
        if all(wrapper.around for wrapper in wrapped.wrappers):
            yield from _renaming(state, "HF211", dict(wrapped.pairs))


def respelled(state: State) -> Iterator[Proposal]:
    """Names that only some loaders convert."""
    match = state.run.outcome.match
    if match and match.renamed:
        yield from _renaming(state, "HF209", dict(match.renamed))


def _renaming(state: State, code: str, names: Mapping[str, str]) -> Iterator[Proposal]:
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
    yield Proposal(frozenset({code}), says, changes, files)


def _within(shard: Shard, names: Mapping[str, str]) -> dict[str, str]:
    tensors = shard.header.tensors if shard.header else ()
    return {name: names[name] for name in tensors if name in names}
