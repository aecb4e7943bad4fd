"""Reads the directory of a zip archive: where each record lies, and whether all of it can be true.

Source of the layout: PKWARE's APPNOTE 6.3.10, sections 4.3 and 4.5.3. Stricter than zipfile: two records of one name,
or two that overlap, are an error, as readers differ in what they take of them.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hfcount.errors import DocumentError
from hfcount.formats.window import TooLarge, Window
from hfcount.text import printable

TAIL = 65_536
"""Bytes at the end of a file that are looked through for the end of the directory."""

MAX_DIRECTORY, MAX_RECORDS = 64_000_000, 250_000
"""Bytes of the directory and records in it: 20 times what the largest file known has."""

_END, _END64 = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q")
_LOCATOR, _RECORD, _LOCAL = struct.Struct("<4sLQL"), struct.Struct("<4s6H3L5H2L"), struct.Struct("<4s5H3L2H")
_WIDE, _LARGE = 0xFFFF, 0xFFFFFFFF  # in the directory: the value is in the zip64 record
_ENCRYPTED, _STORED, _DEFLATED = 1 | 64 | 8192, 0, 8


class ZipRecord(NamedTuple):
    """One record: where its local header begins, its bytes in the archive and unpacked, its method and checksum."""

    offset: int
    packed: int
    size: int
    method: int
    crc: int

    @property
    def compressed(self) -> bool:
        """Whether its bytes in the archive are not its content."""
        return self.method != _STORED


@dataclass(frozen=True, slots=True)
class Archive:
    """The directory of an archive.

    Args:
        records: by name.
        start: where the directory begins, in bytes of the file; all records end before.
        end: where the archive ends.
    """

    where: str
    records: Mapping[str, ZipRecord]
    start: int
    end: int

    def content(self, window: Window, name: str, limit: int) -> bytes:
        """The content of a record, read in one range at most.

        Raises:
            TooLarge: it is longer than `limit`.
            DocumentError: HF003, it is damaged, or is packed in a way that nobody unpacks.
        """
        record = self.records[name]
        if max(record.size, record.packed) > limit:
            raise TooLarge(
                f"{self.where}: its record {printable(name)} has {record.size:,} bytes; at most {limit:,} are read.",
                "HF003",
            )
        # A local header may hold more than the directory says: up to 65,535 bytes, with which writers align data.
        begin = record.offset + _LOCAL.size + len(name.encode())
        return self._unpacked(name, window.range(record.offset, min(begin + _WIDE + record.packed, self._next(record))))

    def peek(self, window: Window, name: str) -> bytes | None:
        """The content of a small record if that was read already; None otherwise."""
        record = self.records.get(name)
        raw = record and window.peek(record.offset, self._next(record))
        return self._unpacked(name, raw) if raw else None

    def check_place(self, window: Window, name: str) -> None:
        """Raises DocumentError if what was read already shows that a record is not where the directory has it."""
        record = self.records[name]
        if window.peek(record.offset, record.offset + 4) not in (None, b"PK\3\4"):
            raise self._broken(name, f"is not at byte {record.offset:,}, where the directory has it")

    def _next(self, record: ZipRecord) -> int:
        return min(
            (other.offset for other in self.records.values() if other.offset > record.offset), default=self.start
        )

    def _unpacked(self, name: str, raw: bytes) -> bytes:
        record = self.records[name]
        if len(raw) < _LOCAL.size or not raw.startswith(b"PK\3\4"):
            raise self._broken(name, f"is not at byte {record.offset:,}, where the directory has it")
        *_, named, extra = _LOCAL.unpack_from(raw)
        begin = _LOCAL.size + named + extra
        packed = raw[begin : begin + record.packed]
        if len(packed) < record.packed:
            raise self._broken(name, f"ends after {len(packed):,} of {record.packed:,} bytes")
        content = self._inflated(name, packed) if record.compressed else packed
        # torch can be told to write no checksums; they are 0 then, and it never looks at them.
        if record.crc and zlib.crc32(content) != record.crc:
            raise self._broken(
                name, f"has checksum {zlib.crc32(content):08x}, and the directory says {record.crc:08x}: it is damaged"
            )
        return content

    def _inflated(self, name: str, packed: bytes) -> bytes:
        record = self.records[name]
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            content = unpacker.decompress(packed, record.size + 1)
        except zlib.error:
            raise self._broken(name, "cannot be decompressed") from None
        if len(content) != record.size:
            raise self._broken(
                name, f"is to have {record.size:,} bytes, and has {'more' if len(content) > record.size else 'fewer'}"
            )
        return content

    def _broken(self, name: str, what: str) -> DocumentError:
        return DocumentError(f"{self.where}: its record {printable(name)} {what}.", "HF003")


def read_archive(where: str, window: Window) -> Archive | None:
    """The directory of an archive, read in two ranges at most; None if its end is not there: the file is cut off.

    Raises:
        DocumentError: HF003, what the directory says cannot be.
    """
    begin = max(0, window.size - TAIL)
    tail = window.range(begin, window.size)
    place = tail.rfind(b"PK\5\6")
    if place < 0 or len(tail) - place < _END.size:
        return None
    _, disk, first, here, count, length, start, comment = _END.unpack_from(tail, place)
    end = begin + place + _END.size + comment
    wide = _wide(where, window, begin + place)
    if wide:
        disk, first, here, count, length, start = wide
    if disk or first or here != count:
        raise DocumentError(f"{where} is one of several parts of an archive, which torch does not read.", "HF003")
    if start + length > begin + place:
        raise DocumentError(
            f"{where}: its directory of {length:,} bytes at byte {start:,} goes beyond byte {begin + place:,}, where it"
            " is to end.",
            "HF003",
        )
    if length > MAX_DIRECTORY or count > MAX_RECORDS:
        raise TooLarge(
            f"{where} lists {count:,} records in {length:,} bytes; at most {MAX_RECORDS:,} in {MAX_DIRECTORY:,} are"
            " read.",
            "HF003",
        )
    records = _records(where, window.range(start, start + length), count)
    _check_places(where, records, start)
    return Archive(where, records, start, min(end, window.size))


def _wide(where: str, window: Window, end: int) -> tuple[int, ...] | None:
    """Disks, counts, length and start of the directory from the zip64 record; None if there is none."""
    raw = window.range(end - _LOCATOR.size, end)
    if len(raw) < _LOCATOR.size or not raw.startswith(b"PK\6\7"):
        return None
    place = _LOCATOR.unpack(raw)[2]
    record = window.range(place, place + _END64.size) if place + _END64.size <= end else b""
    if not record.startswith(b"PK\6\6"):
        raise DocumentError(f"{where}: the end of its directory is not at byte {place:,}, where it is to be.", "HF003")
    return _END64.unpack(record)[4:]


def _records(where: str, raw: bytes, count: int) -> dict[str, ZipRecord]:
    records: dict[str, ZipRecord] = {}
    folded: set[str] = set()
    place = 0
    for number in range(count):
        if len(raw) - place < _RECORD.size or raw[place : place + 4] != b"PK\1\2":
            raise DocumentError(f"{where}: its directory holds {number:,} records, and says {count:,}.", "HF003")
        _, _, _, flags, method, _, _, crc, packed, size, named, extra, comment, disk, _, _, offset = (
            _RECORD.unpack_from(raw, place)
        )
        after = place + _RECORD.size + named
        name = _name(where, raw[place + _RECORD.size : after])
        if _LARGE in (packed, size, offset):
            size, packed, offset = _large(raw[after : after + extra], size, packed, offset)
        record = ZipRecord(offset, packed, size, method, crc)
        problem = _problem(record, flags, disk)
        if problem:
            raise DocumentError(f"{where}: its record {printable(name)} {problem}.", "HF003")
        if name.lower() in folded:  # readers differ in which they take, and torch's minds no case
            raise DocumentError(f"{where} holds two records named {printable(name)}.", "HF003")
        folded.add(name.lower())
        records[name] = record
        place = after + extra + comment
    return records


def _name(where: str, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise DocumentError(
            f"{where}: the name of its record {printable(repr(raw), 80)} is not UTF-8.", "HF003"
        ) from None


def _problem(record: ZipRecord, flags: int, disk: int) -> str | None:
    """What no reader of torch takes of a record, as the end of a sentence."""
    if flags & _ENCRYPTED:
        return "is encrypted"
    if disk:
        return "is in another part of the archive"
    if record.method not in (_STORED, _DEFLATED):
        return f"is compressed by method {record.method}, which torch does not read"
    if record.method == _STORED and record.packed != record.size:
        return f"is not compressed, and has {record.packed:,} bytes in the archive and {record.size:,} unpacked"
    return None


def _large(extra: bytes, *values: int) -> list[int]:
    """Size, packed size and offset, each of them from the zip64 field where the directory leaves it to that."""
    place = 0
    numbers: Iterator[int] = iter(())
    while place + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, place)
        if kind == 1:
            field = extra[place + 4 : place + 4 + length // 8 * 8]
            numbers = iter(struct.unpack(f"<{len(field) // 8}Q", field[: len(field) // 8 * 8]))
            break
        place += 4 + length
    return [next(numbers, value) if value == _LARGE else value for value in values]


def _check_places(where: str, records: Mapping[str, ZipRecord], start: int) -> None:
    """Raises DocumentError if records overlap each other or the directory."""
    before, end = "", 0
    for name, record in sorted(records.items(), key=lambda item: item[1].offset):
        if record.offset < end:
            raise DocumentError(
                f"{where}: its record {printable(name)} begins at byte {record.offset:,}, within"
                f" {printable(before)}, which ends at byte {end:,}.",
                "HF003",
            )
        before, end = name, record.offset + _LOCAL.size + len(name.encode()) + record.packed
    if end > start:
        raise DocumentError(
            f"{where}: its record {printable(before)} goes to byte {end:,}, beyond byte {start:,}, where the directory"
            " begins.",
            "HF003",
        )
