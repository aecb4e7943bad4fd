"""Extracts the state dict of a pickle, and checks that storages can hold its tensors."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hfcount.errors import DocumentError
from hfcount.formats.dtypes import FLOATING
from hfcount.formats.pickles.stream import PickleContents
from hfcount.formats.pickles.values import MAX_SIZE, Beyond, Malformed, Storage, Tensor
from hfcount.formats.window import TooLarge
from hfcount.text import plural, printable

MAX_PICKLE = 32_000_000
"""Bytes of the pickles of a file, in all: ten times what the largest file known has."""

_DEPTH = 8  # keys to a state dict
_MOST = 50_000  # dictionaries and lists in which one is looked for
_CONTAINERS = (dict, list, tuple)


@dataclass(frozen=True, slots=True)
class Pickle:
    """What a file of torch.save holds.

    Args:
        size: bytes of the file.
        legacy: whether it has the format before torch 1.6.
        tensors: those of the state dict by name, in its order; none if the file holds no state dict.
        state_dict: whether its value is a dictionary of tensors, or an empty one.
        others: names in the state dict that are of no tensor.
        leading: the first of them, if that stands before the first weights; None otherwise.
        nameless: whether the state dict has keys that are no text.
        inner: where the file is no state dict, the keys under which most tensors lie, and these by name.
        globals: functions and classes beyond torch's allow-list that it names.
        opcodes: opcodes that torch refuses.
        protocol: of the pickle.
        storages: what the tensors are views of, by key.
        unused: bytes of the storages that no tensor uses.
        longer: keys of storages that have more bytes in the file than the pickle says.
        compressed: keys of storages that are compressed.
        trailing: bytes behind all that belongs to the file.
        begins: where each storage begins in the file, by key: its bytes or, in an archive, the header before them.
    """

    name: str
    size: int
    legacy: bool = False
    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    state_dict: bool = True
    others: tuple[str, ...] = ()
    leading: str | None = None
    nameless: bool = False
    inner: "tuple[tuple[str, ...], Mapping[str, Tensor]] | None" = None
    globals: tuple[str, ...] = ()
    opcodes: tuple[str, ...] = ()
    protocol: int = 2
    storages: Mapping[str, Storage] = field(default_factory=dict)
    unused: int = 0
    longer: tuple[str, ...] = ()
    compressed: tuple[str, ...] = ()
    trailing: int = 0
    begins: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def data(self) -> int:
        """Bytes of all storages."""
        return sum(storage.bytes for storage in self.storages.values())


def assemble(name: str, size: int, value: Any, contents: PickleContents, **more: Any) -> Pickle:
    """What a file holds, by the value of its pickle.

    Args:
        contents: what the pickle asks for.
        more: further fields of `Pickle`.

    Raises:
        DocumentError: HF003, a tensor goes beyond its storage.
    """
    top = value if type(value) is dict else {}
    tensors = {key: item for key, item in top.items() if type(key) is str and type(item) is Tensor}
    inner = None if tensors else _inner(value)
    used = _used(printable(name), contents.tensors, tensors)
    return Pickle(
        name,
        size,
        tensors=tensors,
        state_dict=bool(tensors) or (type(value) is dict and not value),
        others=tuple(key for key, item in top.items() if type(key) is str and type(item) is not Tensor),
        leading=_leading(top),
        nameless=any(type(key) is not str for key in top),
        inner=inner,
        globals=tuple(contents.refused),
        opcodes=tuple(contents.opcodes),
        protocol=contents.protocol,
        storages=contents.storages,
        unused=_unused(contents.storages, used),
        **more,
    )


def _leading(top: Mapping[Any, Any]) -> str | None:
    """The first name of no tensor, if that stands before the first tensor of a floating dtype."""
    for key, item in top.items():
        if type(item) is not Tensor:
            return str(key) if type(key) is str else None
        if item.dtype in FLOATING:
            return None
    return None


def _inner(value: Any) -> tuple[tuple[str, ...], Mapping[str, Tensor]] | None:
    """The keys to the dictionary or list with the most tensors, and these; None if there is none.

    Each value is looked at once however often it occurs, and no more than `_MOST` are.
    """
    best: tuple[tuple[str, ...], dict[str, Tensor]] | None = None
    queue: list[tuple[tuple[str, ...], Any]] = [((), value)]
    known = {id(value)}
    for path, item in queue:
        tensors: dict[str, Tensor] = {}
        for key, inner in _items(item):
            if type(inner) is Tensor:
                tensors[key] = inner
            elif type(inner) in _CONTAINERS and len(path) < _DEPTH and len(known) < _MOST and id(inner) not in known:
                known.add(id(inner))
                queue.append(((*path, key), inner))
        if tensors and (best is None or len(tensors) > len(best[1])):
            best = path, tensors
    return best


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    """What a dictionary or list has under text or numbers; nothing of other values."""
    if type(value) is dict:
        return ((key, inner) for key, inner in value.items() if type(key) is str)
    return ((str(number), inner) for number, inner in enumerate(value)) if type(value) in _CONTAINERS else iter(())


def _used(where: str, tensors: list[Tensor], named: Mapping[str, Tensor]) -> dict[str, list[tuple[int, int]]]:
    """The bytes of each storage that tensors use; what lies between the steps of a view counts as used.

    Raises:
        DocumentError: HF003, a tensor goes beyond its storage.
    """
    used: dict[str, list[tuple[int, int]]] = {}
    for tensor in tensors:
        storage, bits = tensor.storage, tensor.bits
        end = (tensor.extent * bits + 7) // 8 if storage else 0
        if tensor.elements * bits >= 8 * MAX_SIZE or (storage and end > storage.bytes):
            name = next((name for name, other in named.items() if other is tensor), None)
            raise DocumentError(f"{where}: {printable(name) if name else 'a tensor'} {_problem(tensor, end)}.", "HF003")
        if storage and end:
            begin = storage.begin * storage.bits // 8
            used.setdefault(storage.key, []).append((begin + tensor.offset * bits // 8, begin + end))
    return used


def _problem(tensor: Tensor, end: int) -> str:
    """Why a tensor cannot be, as the end of a sentence."""
    shape, storage = printable(str(tensor.shape)), tensor.storage
    if storage is None or tensor.elements * tensor.bits >= 8 * MAX_SIZE:
        return f"has shape {shape} of {tensor.dtype}, which is 2^63 bytes or more"
    return (
        f"has shape {shape} and stride {printable(str(tensor.stride))} from element {tensor.offset:,}, up to byte"
        f" {end:,} of storage {printable(storage.key)}, which has {storage.bytes:,}"
    )


def _unused(storages: Mapping[str, Storage], used: Mapping[str, list[tuple[int, int]]]) -> int:
    """Bytes of the storages that no tensor uses."""
    unused = sum(storage.bytes for storage in storages.values())
    for ranges in used.values():
        place = 0
        for begin, end in sorted(ranges):
            unused -= max(0, end - max(begin, place))
            place = max(place, end)
    return unused


def unreadable(where: str, error: Malformed) -> DocumentError:
    """The error for a pickle that cannot be read."""
    what = TooLarge if isinstance(error, Beyond) else DocumentError
    return what(f"{where}: its pickle {printable(str(error))}.", "HF003")


def tensors_on(tensors: Mapping[str, Tensor], keys: set[str]) -> str:
    """The tensors whose storages have these keys, for a message: how many, and the first."""
    names = [name for name, tensor in tensors.items() if tensor.storage and tensor.storage.key in keys]
    return f"{plural(len(names), 'tensor')}, such as {printable(names[0])}" if names else "no tensor of the state dict"
