"""Reads the header of a GGUF file, and checks every rule of the format.

A header is the bytes `GGUF`, a version, the numbers of tensors and of pairs, the pairs (metadata, the vocabulary among
them), and the table of tensors; the data follows at the next multiple of the alignment. Source of the rules: llama.cpp,
ggml/src/gguf.cpp (`gguf_init_from_reader`) and src/llama-model-loader.cpp.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from struct import Struct
from types import MappingProxyType
from typing import NamedTuple

from hfcount.errors import DocumentError
from hfcount.formats.gguf.types import TYPES
from hfcount.formats.gguf.values import Long, Value, broken, read_pairs, read_text
from hfcount.formats.gguf.window import HeaderWindow
from hfcount.formats.json import check_substitute
from hfcount.formats.window import Read
from hfcount.text import printable

MAX_TENSORS = 50_000
MAX_PAIRS = 20_000
"""More are refused: the largest models have some thousand tensors, and some hundred pairs."""

MAX_NAME = 64
"""Bytes of a tensor's name with its end, as llama.cpp is built (GGML_MAX_NAME)."""

_MAX = 2**63
_DIMS = 4
_LEAST_TENSOR, _LEAST_PAIR = 24, 13  # bytes of the shortest entry

_U32, _U64, _HEAD = Struct("<I"), Struct("<Q"), Struct("<4sIQQ")


class GgufTensor(NamedTuple):
    """One tensor.

    Args:
        type: by its name, or `type N` where llama.cpp has none of that number.
        shape: in elements, slowest extent first, as torch has it (the file has it the other way round).
        begin: where its bytes begin in the data.
        bytes: how many it has; of a type without a name, up to the next tensor.
    """

    type: str
    shape: tuple[int, ...]
    begin: int
    bytes: int

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class GgufHeader:
    """The header of one file; each is another, so that what is found out of one can be kept by it.

    Args:
        version: of the format.
        metadata: the pairs. Long texts and arrays, such as the vocabulary, are only counted.
        tensors: by name, in the order of the file.
        table: where the table of tensors begins and ends in the file.
        alignment: in bytes.
        end: bytes that the file has to have, up to the end of its last tensor.
        foreign: tensors of types that llama.cpp does not have.
        alike: whether the metadata is that of another file, of which this is a variant.
        kinds: the types of the pairs, such as `u32`, arrays with [] after that of their entries.
    """

    version: int
    metadata: Mapping[str, Value]
    tensors: Mapping[str, GgufTensor]
    table: tuple[int, int]
    alignment: int
    end: int
    foreign: tuple[str, ...] = ()
    alike: bool = False
    kinds: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> int:
        """Where the data begins in the file."""
        return _padded(self.table[1], self.alignment)

    def text(self, key: str) -> str:
        """A text of the metadata; "" if it has none."""
        value = self.metadata.get(key)
        return value if isinstance(value, str) else ""

    @property
    def has_vocabulary(self) -> bool:
        """Whether the metadata has anything of a tokenizer's vocabulary, without which llama.cpp loads no model."""
        return not {"tokenizer.ggml.model", "tokenizer.ggml.tokens"}.isdisjoint(self.metadata)

    def number(self, key: str) -> int | None:
        """A whole number of the metadata; None if it has none."""
        value = self.metadata.get(key)
        return value if type(value) is int else None

    def length(self, key: str) -> int | None:
        """How many entries an array of the metadata has; None if it has none."""
        value = self.metadata.get(key)
        return value.length if isinstance(value, Long) else len(value) if isinstance(value, tuple) else None


def read_gguf(name: str, size: int | None, read: Read) -> GgufHeader:
    """The header of a file.

    Takes one range of 1 MiB, and for a longer header the rest by ranges that double: at most 7 for the longest.

    Args:
        name: of the file, for messages.
        size: of the file in bytes; None if unknown.
        read: gives the bytes of a range (start, stop) of the file, fewer where it ends.

    Raises:
        DocumentError: HF003, it breaks a rule of the format; HF004, it is cut.
    """
    window = HeaderWindow(printable(name), size, read)
    where = window.where
    first = window.first(64)
    check_substitute(where, first, "HF003")
    if first[:4] != b"GGUF"[: len(first)]:
        raise broken(f"{where} is not a GGUF file: it begins with {first[:4]!r}.", "Download it again.")
    window.need(0, _HEAD.size)
    _, version, count, pairs = _HEAD.unpack_from(window.bytes, 0)
    _check_version(where, version)
    window.bound(count, _LEAST_TENSOR, MAX_TENSORS, "tensors")
    window.bound(pairs, _LEAST_PAIR, MAX_PAIRS, "pairs of metadata")
    metadata, kinds, start = read_pairs(window, _HEAD.size, pairs)
    alignment = metadata.get("general.alignment", 32)
    if type(alignment) is not int or alignment <= 0 or alignment & (alignment - 1):
        raise broken(f"{where}: general.alignment is {alignment!r}, but must be a power of two.")
    if kinds.get("general.alignment", "u32") != "u32":
        raise broken(f"{where}: general.alignment is of type {kinds['general.alignment']}, but must be u32.")
    tensors, stop = _table(window, start, count, alignment)
    header = _laid_out(where, version, metadata, tensors, (start, stop), alignment)
    if size is not None and size < header.end:
        raise DocumentError(
            f"{where} has {size:,} bytes, and its tensors end at byte {header.end:,}: it is cut off,"
            f" {header.end - size:,} bytes are missing.",
            "HF004",
            fix="Download it again.",
            expected=header.end,
            observed=size,
        )
    return replace(header, kinds=kinds)


def read_variant(name: str, size: int, read: Read, known: GgufHeader, around: int = 65_536) -> GgufHeader | None:
    """The header of a file that is `known`'s model in other types, by one range around the other's table.

    It holds only if the table, the offsets and the size of the file all come out; else the answer is None, and the
    whole header has to be read. The metadata is `known`'s without what says how it was quantised.
    """
    start = max(0, known.table[0] - around)
    if not known.tensors or size <= start:
        return None
    window = HeaderWindow.part(printable(name), size, read, start, min(size, known.table[1] + around))
    first = next(iter(known.tensors)).encode()
    needle = _U64.pack(len(first)) + first
    place = window.bytes.find(needle)
    while place >= 0:
        try:
            tensors, stop = _table(window, start + place, len(known.tensors), known.alignment)
            header = _laid_out(
                window.where, known.version, _unquantised(known), tensors, (start + place, stop), known.alignment
            )
        except DocumentError:
            header = None
        if header and size in (header.end, _padded(header.end, known.alignment)) and _same(header, known):
            return replace(header, alike=True, kinds=known.kinds)
        place = window.bytes.find(needle, place + 1)
    return None


def _same(header: GgufHeader, known: GgufHeader) -> bool:
    return list(header.tensors) == list(known.tensors) and not header.foreign


def _unquantised(header: GgufHeader) -> Mapping[str, Value]:
    left = ("general.file_type", "general.quantization_version")
    return MappingProxyType(
        {key: value for key, value in header.metadata.items() if key not in left and not key.startswith("quantize.")}
    )


def _check_version(where: str, version: int) -> None:
    if version & 0xFFFF == 0 and version:  # a small number, with its bytes in the other order
        raise broken(
            f"{where} is written for big-endian machines: its version {version:,} has its bytes in that order, which"
            " llama.cpp 0.5 does not load.",
            "Convert it without --bigendian.",
        )
    if version not in (2, 3):
        text = f"{where} has version {version:,} of GGUF; llama.cpp 0.5 reads 2 and 3."
        raise broken(text, "Convert the model again.")


class _Row(NamedTuple):
    name: str
    type: int
    shape: tuple[int, ...]
    offset: int


def _table(window: HeaderWindow, place: int, count: int, alignment: int) -> tuple[list[_Row], int]:
    rows = []
    for _ in range(count):
        name, place = read_text(window, place, "a tensor's name")
        window.need(place, 4)
        (dims,) = _U32.unpack_from(window.bytes, place - window.start)
        if dims > _DIMS:
            raise broken(f"{window.where}: {printable(name)} has {dims:,} dimensions; at most {_DIMS} are allowed.")
        entry = Struct(f"<{dims}QIQ")
        window.need(place + 4, entry.size)
        *shape, kind, offset = entry.unpack_from(window.bytes, place + 4 - window.start)
        rows.append(_Row(name, kind, tuple(reversed(shape)), offset))
        place += 4 + entry.size
    return rows, place


def _laid_out(
    where: str,
    version: int,
    metadata: Mapping[str, Value],
    rows: list[_Row],
    table: tuple[int, int],
    alignment: int,
) -> GgufHeader:
    """The header of these rows; checks that each tensor begins where the one before it ends."""
    tensors: dict[str, GgufTensor] = {}
    foreign = []
    end = place = 0
    for number, row in enumerate(rows):
        _check_row(where, row, tensors)
        if row.offset != place:
            raise broken(
                f"{where}: {printable(row.name)} begins at byte {row.offset:,} of the data, and the tensor before it"
                f" ends at {place:,} with its padding. llama.cpp 0.5 refuses holes and overlaps.",
                "Convert the model again.",
            )
        kind = TYPES.get(row.type)
        if kind:
            taken = prod(row.shape) // kind.block * kind.bytes
        else:
            foreign.append(row.name)
            taken = max(0, rows[number + 1].offset - place) if number + 1 < len(rows) else 0
        tensors[row.name] = GgufTensor(kind.name if kind else f"type {row.type}", row.shape, place, taken)
        end = place + taken
        place = _padded(end, alignment)
    begin = _padded(table[1], alignment)
    return GgufHeader(version, metadata, MappingProxyType(tensors), table, alignment, begin + end, tuple(foreign))


def _check_row(where: str, row: _Row, tensors: Mapping[str, GgufTensor]) -> None:
    name = printable(row.name)
    if row.name in tensors:
        raise broken(f"{where}: {name} is there twice.", "Convert the model again.")
    if len(row.name.encode()) >= MAX_NAME:
        raise broken(f"{where}: {name} has {len(row.name.encode())} bytes; names have fewer than {MAX_NAME}.")
    if any(extent >= _MAX for extent in row.shape) or prod(row.shape) >= _MAX:
        raise broken(f"{where}: {name} has a shape of 2^63 elements or more.")
    kind = TYPES.get(row.type)
    if kind and row.shape and row.shape[-1] % kind.block:
        raise broken(
            f"{where}: {name} is of type {kind.name}, whose blocks have {kind.block} elements, and its rows have"
            f" {row.shape[-1]:,}.",
            "Convert the model again.",
        )


def _padded(place: int, alignment: int) -> int:
    return -(-place // alignment) * alignment
