"""Parses the metadata of a GGUF header; long values are counted and not kept."""

from collections.abc import Mapping
from struct import Struct, calcsize
from types import MappingProxyType
from typing import NamedTuple

from hfcount.errors import DocumentError
from hfcount.formats.gguf.types import ARRAY, KINDS, STRING, VALUES
from hfcount.formats.gguf.window import MAX_HEADER, HeaderWindow
from hfcount.text import printable

_KEPT = 4096  # bytes of a text, and entries of an array of numbers, that are kept
_KEPT_TEXTS = 64  # entries of an array of texts
_KEPT_ALL = 4_000_000  # bytes of all values

_U32, _U64, _ARRAY = Struct("<I"), Struct("<Q"), Struct("<IQ")
_NUMBERS = {kind: Struct(f"<{code}") for kind, code in VALUES.items()}


class Long(NamedTuple):
    """A value that is not kept: an array of so many entries, or a text of so many bytes."""

    length: int


Value = bool | int | float | str | tuple[bool | int | float | str, ...] | Long


def read_pairs(window: HeaderWindow, place: int, count: int) -> tuple[Mapping[str, Value], Mapping[str, str], int]:
    """The pairs that begin at `place`, the type of each, and where they end."""
    metadata, kinds, kept = dict[str, Value](), dict[str, str](), 0
    for _ in range(count):
        name, place = read_text(window, place, "a key of its metadata")
        if not name or name in metadata:
            raise broken(f"{window.where}: the key {printable(name)!r} {'is there twice' if name else 'is empty'}.")
        window.need(place, 4)
        (kind,) = _U32.unpack_from(window.bytes, place)
        before = place + 4
        array = kind == ARRAY
        value, place = _value(window, name, kind, before)
        if kept > _KEPT_ALL and isinstance(value, str | tuple):
            value = Long(len(value))
        kept += 0 if isinstance(value, Long) else place - before
        metadata[name] = value
        kinds[name] = f"{KINDS[_U32.unpack_from(window.bytes, before)[0]]}[]" if array else KINDS[kind]
    return MappingProxyType(metadata), MappingProxyType(kinds), place


def _value(window: HeaderWindow, name: str, kind: int, place: int) -> tuple[Value, int]:
    if kind == ARRAY:
        window.need(place, _ARRAY.size)
        kind, count = _ARRAY.unpack_from(window.bytes, place)
        return _array(window, name, kind, count, place + _ARRAY.size)
    if kind == STRING:
        start, place = _span(window, place)
        long = place - start > _KEPT
        return Long(place - start) if long else window.bytes[start:place].decode("utf-8", "replace"), place
    if kind not in _NUMBERS:
        raise broken(f"{window.where}: {printable(name)} has type {kind:,}, which metadata does not have.")
    number = _NUMBERS[kind]
    window.need(place, number.size)
    value: Value = number.unpack_from(window.bytes, place)[0]
    return value, place + number.size


def _array(window: HeaderWindow, name: str, kind: int, count: int, place: int) -> tuple[Value, int]:
    if kind == STRING:
        window.bound(count, _U64.size, MAX_HEADER, f"entries of {printable(name)}")
        if count > _KEPT_TEXTS:
            return Long(count), window.skip_texts(place, count)
        texts = []
        for _ in range(count):
            start, place = _span(window, place)
            texts.append(window.bytes[start : min(place, start + _KEPT)].decode("utf-8", "replace"))
        return tuple(texts), place
    if kind not in VALUES:
        raise broken(f"{window.where}: {printable(name)} is an array of type {kind:,}, which arrays do not have.")
    width = calcsize(f"<{VALUES[kind]}")
    window.bound(count, width, MAX_HEADER, f"entries of {printable(name)}")
    window.need(place, width * count)
    if count > _KEPT:
        return Long(count), place + width * count
    return Struct(f"<{count}{VALUES[kind]}").unpack_from(window.bytes, place), place + width * count


def _span(window: HeaderWindow, place: int) -> tuple[int, int]:
    """Where the text begins whose length stands at `place`, and where it ends."""
    window.need(place, _U64.size)
    (length,) = _U64.unpack_from(window.bytes, place - window.start)
    window.need(place + _U64.size, length)
    return place + _U64.size, place + _U64.size + length


def read_text(window: HeaderWindow, place: int, what: str) -> tuple[str, int]:
    """A short text whose length stands at `place`, and where it ends."""
    start, stop = _span(window, place)
    if stop - start > 65_535:
        raise broken(f"{window.where}: {what} has {stop - start:,} bytes.")
    return window.bytes[start - window.start : stop - window.start].decode("utf-8", "replace"), stop


def broken(text: str, fix: str | None = None) -> DocumentError:
    """The error for a header that breaks a rule of the format."""
    return DocumentError(text, "HF003", fix=fix)
