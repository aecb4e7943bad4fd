"""Pickled weights: what loaders take of them, and their tensors under the names that the blueprint has.

A state dict has the names and shapes of the module, so that the view of the blueprint is the blueprint itself: as a
`Shard`, a pickle goes through every check that headers of safetensors go through. What loaders do with the rest was
judged by from_pretrained of transformers 5.23 under torch 2.13.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hfcount.containers.difference import Difference, Severity
from hfcount.errors import DocumentError
from hfcount.formats.index import Index
from hfcount.formats.pickles import Pickle, Tensor, read_pickle
from hfcount.formats.safetensors import LENGTH_BYTES, Entry, Header, Shard
from hfcount.formats.window import Read, TooLarge
from hfcount.plan import Blueprint
from hfcount.storage.dtypes import BITS, FLOATING
from hfcount.tree.leaves import Finder, Label
from hfcount.verifier import verify
from hfcount.verifier.names import Match, match

ENDINGS = (".bin", ".pt", ".pth", ".ckpt")
"""What the names of files of torch.save end in."""

_STAND_INS = {"complex128": "C64", "complex32": "C64", "qint8": "I8", "quint8": "U8", "qint32": "I32"}
"""For dtypes that safetensors does not have one of the same kind, so that names and shapes can be compared."""

_COPIES: Mapping[str, Label] = {"HF203": "tied", "HF204": "legacy"}
"""Findings about tensors that are stored though they need not be, and the label of their leaves."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A file that cannot be read, and why."""

    name: str
    size: int
    error: DocumentError

    @property
    def kind(self) -> str:
        """cut-off, unreadable, or too-large, which may be sound."""
        if isinstance(self.error, TooLarge):
            return "too-large"
        return "cut-off" if self.error.code == "HF004" else "unreadable"

    @property
    def difference(self) -> Difference:
        """What is to be told of it."""
        facts = {"message": str(self.error), "expected": self.error.expected, "observed": self.error.observed}
        return Difference(self.kind, "unverified" if self.kind == "too-large" else "error", self.name, facts)


@dataclass(frozen=True, slots=True)
class Totals:
    """What state dicts hold in all.

    Args:
        tensors: how many, names of one tensor counted once.
        elements: of these, by dtype, the most first.
        bytes: of all storages.
    """

    tensors: int
    elements: Mapping[str, int]
    bytes: int

    @property
    def bits_a_weight(self) -> float | None:
        """Bits of storage for each element of a floating dtype; None if there is none."""
        weights = sum(count for dtype, count in self.elements.items() if dtype in FLOATING)
        return 8 * self.bytes / weights if weights else None


def look(name: str, size: int, read: Read) -> Pickle | Broken:
    """What a file holds, or why it cannot be read; arguments as of `read_pickle`."""
    try:
        return read_pickle(name, size, read)
    except DocumentError as error:
        return Broken(name, size, error)


def shard(pickle: Pickle, tensors: Mapping[str, Tensor] | None = None) -> Shard:
    """A pickle as the checks of weight files take it: its header lists the tensors as a file of safetensors would.

    Args:
        tensors: those that count, if not those of its state dict.

    The places of the tensors are not those in the pickle, and the header's length is what is left of the file's size,
    so that a sound file has the size that its header asks for.
    """
    entries, place = dict[str, Entry](), 0
    for name, tensor in (pickle.tensors if tensors is None else tensors).items():
        dtype = tensor.dtype if tensor.dtype in BITS else _STAND_INS.get(tensor.dtype, "U8")
        end = place + (tensor.elements * BITS[dtype] + 7) // 8
        entries[name] = Entry(dtype, tensor.shape, place, end)
        place = end
    raw = json.dumps(
        {
            name: {"dtype": dtype, "shape": shape, "data_offsets": [*place]}
            for name, (dtype, shape, *place) in entries.items()
        }
    ).encode()
    return Shard(pickle.name, pickle.size, Header(entries, pickle.size - LENGTH_BYTES - place, place, raw))


def compare(blueprint: Blueprint, files: Sequence[Pickle | Broken], index: Index | None = None) -> list[Difference]:
    """How the files of a checkpoint differ from its blueprint and its index; nothing if loaders take them as they are.

    Args:
        index: that of the pickled files, if there is one.
    """
    pickles = sorted((file for file in files if isinstance(file, Pickle)), key=lambda pickle: pickle.name)
    differences = [file.difference for file in files if isinstance(file, Broken)]
    for pickle in pickles:
        first = pickle is pickles[0]  # transformers takes the dtype from the first file alone
        differences += [
            difference
            for difference in conditions(pickle, blueprint)
            if first or difference.kind != "value-before-tensors"
        ]
    if differences and not any(pickle.tensors for pickle in pickles):
        return differences  # there is nothing to compare
    shards = {file.name: shard(file) if isinstance(file, Pickle) else Shard(file.name, file.size) for file in files}
    outcome = verify(blueprint, index, shards)
    shared = {name for pickle in pickles for names in ties(pickle) for name in names}
    for finding in outcome.findings:
        rule, label = finding.rule, _COPIES.get(finding.rule.code)
        if label and outcome.match and all(name in shared for name in _names(outcome.match, label, pickles)):
            continue  # one tensor of two names, which takes no bytes
        # No loader of pickles reads the total, and writers have summed it up in several ways.
        severity = "note" if rule.code == "HF401" else finding.severity
        facts = {"code": rule.code, "message": finding.message, "tensors": finding.tensors, "count": finding.count}
        differences.append(Difference(rule.name, severity, finding.file, facts, rule.neutral))
    return differences


def _names(matched: Match, label: Label, pickles: Iterable[Pickle]) -> list[str]:
    """The stored names that are of leaves with this label."""
    spelling = matched.spelling
    names = [spelling.get(name, name) for leaf, _ in matched.extra(label) for name in matched.names(leaf)]
    return [name for name in names if any(name in pickle.tensors for pickle in pickles)]


def conditions(pickle: Pickle, blueprint: Blueprint | None = None) -> Iterator[Difference]:
    """What is to be known of one file beside its names, shapes and dtypes.

    Args:
        blueprint: what the file is to hold, if that is known.
    """
    yield from _refused(pickle)
    yield from _no_state_dict(pickle, blueprint)
    odd: dict[str, str] = {name: tensor.kind for name, tensor in pickle.tensors.items() if tensor.kind != "dense"}
    others = {name: tensor.dtype for name, tensor in pickle.tensors.items() if tensor.dtype not in BITS}
    odd |= {name: dtype for name, dtype in others.items() if name not in odd and not dtype.startswith("complex")}
    if odd:
        yield Difference("tensor-kind", "error", pickle.name, {"tensors": odd, "count": len(odd)})
    if pickle.compressed:
        facts = {"storages": pickle.compressed, "of": len(pickle.storages)}
        yield Difference("storage-compressed", "error", pickle.name, facts)
    if pickle.leading is not None and pickle.tensors and not (blueprint and blueprint.spec.dtype):
        severity: Severity = "unverified" if blueprint is None else "error"
        yield Difference("value-before-tensors", severity, pickle.name, {"name": pickle.leading})
    if pickle.tensors and pickle.others:
        yield Difference("other-values", "note", pickle.name, {"names": pickle.others, "count": len(pickle.others)})
    yield from _storages(pickle)


def _refused(pickle: Pickle) -> Iterator[Difference]:
    if pickle.globals or pickle.opcodes:
        facts = {"globals": pickle.globals, "opcodes": pickle.opcodes, "protocol": pickle.protocol}
        yield Difference("pickle-calls", "error", pickle.name, facts)


def _no_state_dict(pickle: Pickle, blueprint: Blueprint | None) -> Iterator[Difference]:
    """That the tensors lie under a key or under no names, and whether they are those of the blueprint there."""
    if pickle.tensors and not pickle.nameless:
        return
    path, tensors = pickle.inner or ((), {})
    if not tensors and not pickle.tensors and (pickle.globals or pickle.state_dict):
        return  # nothing to be matched, and that is told already; or an empty state dict, which is one
    facts: dict[str, object] = {"path": path, "count": len(tensors), "nameless": pickle.nameless}
    if tensors and blueprint:
        matched = match(blueprint.leaves, tensors, blueprint.asides, lambda: blueprint.spellings)
        facts["fits"] = matched.complete
    yield Difference("not-a-state-dict", "error", pickle.name, facts)


def _storages(pickle: Pickle) -> Iterator[Difference]:
    if groups := ties(pickle):
        facts: dict[str, object] = {"groups": groups, "count": sum(len(names) - 1 for names in groups)}
        yield Difference("storage-shared", "note", pickle.name, facts, neutral=True)
    if pickle.unused:
        facts = {"bytes": pickle.unused, "of": pickle.data}
        yield Difference("storage-unused", "note", pickle.name, facts, neutral=True)
    if pickle.longer:
        facts = {"storages": pickle.longer, "of": len(pickle.storages)}
        yield Difference("storage-longer", "note", pickle.name, facts)
    if pickle.trailing > 0:
        yield Difference("trailing-bytes", "note", pickle.name, {"bytes": pickle.trailing})


def ties(pickle: Pickle) -> tuple[tuple[str, ...], ...]:
    """Names of one and the same tensor, as it is stored: of the same elements of one storage."""
    groups: dict[Tensor, list[str]] = {}
    for name, tensor in pickle.tensors.items():
        if tensor.storage and tensor.elements:
            groups.setdefault(tensor, []).append(name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)


def beside(pickles: Iterable[Pickle], entries: Mapping[str, Entry], blueprint: Blueprint) -> Difference | None:
    """How pickles differ from files of safetensors beside them; None if they hold the same model.

    Names that only one of both has count if the blueprint asks for them: buffers and copies of tied weights do not.

    Args:
        entries: the tensors of the safetensors files by name.
    """
    pickled = {name: entry for pickle in pickles for name, entry in _entries(pickle).items()}
    if pickled.keys() != entries.keys():  # classes name the same tensors differently
        pickled, entries = _respelled(pickled, blueprint), _respelled(entries, blueprint)
    finder, facts = Finder(blueprint.leaves), dict[str, object]()
    for title, names in (("lacking", entries.keys() - pickled), ("further", pickled.keys() - entries)):
        leaves = {name: finder.find(name) for name in names}
        asked = sorted(name for name, leaf in leaves.items() if leaf is None or leaf.presence == "required")
        if asked:
            facts[title] = tuple(asked)
    both = [name for name in entries if name in pickled]
    shapes = {name: (entries[name].shape, pickled[name].shape) for name in both}
    facts |= {"shapes": odd} if (odd := {name: pair for name, pair in shapes.items() if pair[0] != pair[1]}) else {}
    dtypes = {(entries[name].dtype, pickled[name].dtype) for name in both}
    facts |= {"dtypes": tuple(sorted(other))} if (other := {pair for pair in dtypes if pair[0] != pair[1]}) else {}
    return Difference("bin-differs", "note", None, facts) if facts else None


def _respelled(entries: Mapping[str, Entry], blueprint: Blueprint) -> dict[str, Entry]:
    """The tensors by the blueprint's names for them, where it has any."""
    names = match(blueprint.leaves, entries, blueprint.asides, lambda: blueprint.spellings).taken
    return {names.get(name, name): entry for name, entry in entries.items()}


def _entries(pickle: Pickle) -> Mapping[str, Entry]:
    header = shard(pickle).header
    return header.tensors if header else {}


def totals(pickles: Iterable[Pickle]) -> Totals:
    """What state dicts hold in all; names of one tensor, and a name that is in two files, count once."""
    tensors, size = dict[str, Tensor](), 0
    for pickle in pickles:
        copies = {name for names in ties(pickle) for name in names[1:]}
        tensors |= {name: tensor for name, tensor in pickle.tensors.items() if name not in copies}
        size += pickle.data
    elements: dict[str, int] = {}
    for tensor in tensors.values():
        elements[tensor.dtype] = elements.get(tensor.dtype, 0) + tensor.elements
    ordered = dict(sorted(elements.items(), key=lambda item: -item[1]))
    return Totals(len(tensors), ordered, size)
