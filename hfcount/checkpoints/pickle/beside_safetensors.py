"""Pickled weights beside files of safetensors: whether both hold the same model."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.pickled_shards import Files, refused, shard, sound
from hfcount.fetcher.reasons import named
from hfcount.formats.pickles import Broken, Pickle
from hfcount.formats.safetensors import Entry
from hfcount.spec.tree.leaves import Finder
from hfcount.verifier.finding import Finding
from hfcount.verifier.folded_names import fold
from hfcount.verifier.names import match
from hfcount.verifier.rules.hf704_bin_differs import BinDiffers


def beside(files: Files, entries: Mapping[str, Entry], blueprint: Blueprint) -> Iterator[Finding]:
    """How pickled files differ from files of safetensors beside them; nothing if they hold the same model.

    Names that only one of both has count if the blueprint asks for them: buffers and copies of tied weights do not.

    Args:
        entries: the tensors of the safetensors files by name.
    """
    pickles = sound(files)
    for finding in (finding for pickle in pickles for finding in refused(pickle)):
        yield finding.replace(severity="note")
    unread = next((file for file in files if isinstance(file, Broken)), None)
    if unread:
        if not unread.large:
            yield BinDiffers(file=unread.name, files=unread.name, problem=unread.problem)
        return
    if any(not pickle.tensors for pickle in pickles):
        nested = next(pickle for pickle in pickles if not pickle.tensors)
        if not nested.globals:
            yield BinDiffers(file=nested.name, files=nested.name, problem="it holds no tensors under their names.")
        return
    pickled = {name: entry for pickle in pickles for name, entry in _entries(pickle).items()}
    yield from _differences(pickled, entries, blueprint, [file.name for file in files])


def _differences(
    pickled: Mapping[str, Entry], entries: Mapping[str, Entry], blueprint: Blueprint, files: Sequence[str]
) -> Iterator[Finding]:
    if pickled.keys() != entries.keys():  # classes name the same tensors differently
        pickled, entries = _respelled(pickled, blueprint), _respelled(entries, blueprint)
    find = Finder(blueprint.leaves).find

    def asked(names: Iterable[str]) -> list[str]:
        leaves = {name: find(name) for name in names}
        return sorted(name for name, leaf in leaves.items() if leaf is None or leaf.presence == "required")

    lacking, further = asked(entries.keys() - pickled), asked(pickled.keys() - entries)
    both = [(name, entry, pickled[name]) for name, entry in entries.items() if name in pickled]
    shapes = {name: (entry.shape, other.shape) for name, entry, other in both if entry.shape != other.shape}
    dtypes = sorted({(entry.dtype, other.dtype) for _, entry, other in both if entry.dtype != other.dtype})
    different = [*lacking, *further, *shapes]
    if different or dtypes:
        yield BinDiffers(
            file=min(files),
            files=named(sorted(files)),
            tensors=tuple(fold(different)),
            count=len(different),
            lacking=lacking,
            further=further,
            shapes=shapes,
            dtypes=dtypes,
        )


def _respelled(entries: Mapping[str, Entry], blueprint: Blueprint) -> dict[str, Entry]:
    """The tensors by the blueprint's names for them, where it has any."""
    names = match(blueprint.leaves, entries, blueprint.unmodeled, lambda: blueprint.spellings).taken
    return {names.get(name, name): entry for name, entry in entries.items()}


def _entries(pickle: Pickle) -> Mapping[str, Entry]:
    header = shard(pickle).header
    return header.tensors if header else {}
