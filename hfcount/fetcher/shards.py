"""Weight files seen through their headers: on disk, or as recorded."""

import json
import os
import stat
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hfcount.errors import DocumentError, FetchError
from hfcount.formats.json import Document, parse_object
from hfcount.formats.safetensors import LENGTH_BYTES, Header, header_length, parse_header
from hfcount.text import printable, shown


@dataclass(frozen=True, slots=True)
class Shard:
    """One file: its size in bytes, and its header or what is wrong with it."""

    name: str
    size: int | None
    header: Header | None = None
    problem: str | None = None


Progress = Callable[[], None]
"""Called once for each file that is done."""


class Shards(Protocol):
    """Reads headers.

    `free` says that it costs no request, so that a run may as well look; `names` are the files that can be seen, None
    where they cannot be listed without asking.
    """

    free: bool
    names: Collection[str] | None

    def read(self, wanted: Collection[str], done: Progress) -> Mapping[str, Shard]:
        """The shards of those names; one that is not there is left out.

        Raises:
            FetchError: they could not be had.
        """


def header_bytes(name: str, size: int | None, first: bytes, rest: Callable[[int, int], bytes]) -> bytes:
    """The header of a file without the 8 bytes before it.

    Args:
        first: the file's first bytes; `rest(begin, end)` brings more, where the header is longer than those.

    Raises:
        DocumentError: HF003, it cannot be a safetensors file.
    """
    where = printable(name)
    length = header_length(where, first, size)
    end = LENGTH_BYTES + length
    raw = first[LENGTH_BYTES:end]
    if len(first) < end:
        raw += rest(len(first), end)
    if len(raw) < length:
        raise DocumentError(f"{where} ends within its header: {len(raw):,} of {length:,} bytes.", "HF003")
    return raw


def shard(name: str, size: int | None, header: Callable[[], bytes]) -> Shard:
    """One file, given what brings the bytes of its header; what is wrong with them is its problem."""
    try:
        return Shard(name, size, parse_header(printable(name), header()))
    except DocumentError as error:
        return Shard(name, size, problem=str(error))


class LocalShards:
    """Files of a folder."""

    free = True

    def __init__(self, folder: Path, names: Collection[str]) -> None:
        self._folder = folder
        self.names: Collection[str] | None = names

    def read(self, wanted: Collection[str], done: Progress) -> Mapping[str, Shard]:
        """The shards of those names that are regular files."""
        found = {}
        for name in wanted:
            one = self._read(name)
            if one is not None:
                found[name] = one
            done()
        return found

    def _read(self, name: str) -> Shard | None:
        try:
            # O_NONBLOCK: opening a FIFO would wait for a writer.
            handle = os.open(self._folder / name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FetchError("UnreadableFile", f"{printable(name)} cannot be read: {error.strerror}.") from None
        with os.fdopen(handle, "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise FetchError("UnreadableFile", f"{printable(name)} is not a regular file.")
            size, first = facts.st_size, file.read(256)
            return shard(name, size, lambda: header_bytes(name, size, first, lambda begin, end: file.read(end - begin)))


class RecordedShards:
    """Headers that an earlier run wrote down."""

    free = True

    def __init__(self, files: Mapping[str, Any]) -> None:
        self._files = files
        self.names: Collection[str] | None = files.keys()

    def read(self, wanted: Collection[str], done: Progress) -> Mapping[str, Shard]:
        """The recorded shards of those names."""
        del done
        return {name: self._read(name, self._files[name]) for name in wanted if name in self._files}

    def _read(self, name: str, recorded: Any) -> Shard:
        size, header = recorded.get("bytes"), recorded.get("header")
        if header is None:
            return Shard(name, size, problem=str(recorded.get("problem")))
        try:
            parsed = parse_header(printable(name), json.dumps(header).encode())
        except DocumentError as error:
            return Shard(name, size, problem=str(error))
        # The length that counts is the published one. Where it was not written down, it is that of the reference
        # writer: no spaces, padded to a multiple of 8.
        length = recorded.get("length")
        if type(length) is not int:
            length = (
                -(-len(json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")) // 8)
                * 8
            )
        return Shard(name, size, Header(parsed.tensors, length, parsed.data, parsed.raw))


def read_recording(document: Document) -> tuple[str | None, RecordedShards | None, list[str]]:
    """The commit, the headers and the files beside them of a headers.json.

    Raises:
        DocumentError: HF001, it is not what --save writes.
    """
    recording = parse_object(document)
    revision, files = recording.get("revision"), recording.get("files")
    beside = recording.get("beside", [])
    if not isinstance(beside, list) or not all(isinstance(name, str) for name in beside):
        raise DocumentError(f"{document.where}: beside is {shown(beside)}, and must be a list of file names.")
    if revision is not None and not isinstance(revision, str):
        raise DocumentError(f"{document.where}: revision is {shown(revision)}, and must be a commit or null.")
    if files is None:
        return revision, None, beside
    if not isinstance(files, dict) or not all(
        isinstance(one, dict) and type(one.get("bytes")) in (int, type(None)) for one in files.values()
    ):
        raise DocumentError(f"{document.where}: files must give bytes and a header for each name.")
    return revision, RecordedShards(files), beside


def recording(revision: str | None, shards: Mapping[str, Shard] | None, beside: Collection[str]) -> bytes:
    """What headers.json holds of a run; `beside` are the files that were there in place of an index."""
    content: dict[str, Any] = {"revision": revision}
    if beside:
        content["beside"] = list(beside)
    if shards is not None:
        content["files"] = {name: _recorded(one) for name, one in sorted(shards.items())}
    return (json.dumps(content, indent=1) + "\n").encode()


def _recorded(one: Shard) -> dict[str, Any]:
    if one.header is None:
        return {"bytes": one.size, "problem": one.problem}
    return {"bytes": one.size, "length": one.header.length, "header": json.loads(one.header.raw)}
