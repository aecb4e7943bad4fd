"""headers.json, in which a run records the headers that it read:

    {"revision": the commit, or null,
     "files": {name: {"bytes": of the file, "length": bytes of the header, "header": {...}} or
        {"bytes", "problem": what is wrong, "fix": what to do}},
     "beside": [names of the other files, where there is no index],
     "sizes": {name: bytes, or null} of all files, where they were listed,
     "pickles": {name: what was read of a pickled file, as `pickles.recorded` writes it}, where any was,
     "samples": {name: {"begin-end": digest of these bytes of the file}}, where some were compared}

Without `files` no headers were read. `length` may be left out; it is then that of the format's reference writer.
"""

import json
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from hfcount.errors import DocumentError
from hfcount.formats import samples
from hfcount.formats.json import Document, parse_object
from hfcount.formats.safetensors import Shard, parse_header
from hfcount.formats.samples import Samples
from hfcount.text import printable, shown

_MANY = 6_000_000  # values: nine for each tensor


class Recording(NamedTuple):
    """The content of a headers.json.

    Args:
        files: input of `recorded_shard`, by file name; None if no headers were read.
        others: names of the other files.
        sizes: bytes of all files by name; None where they were not listed.
        samples: pieces of the files.
        pickles: input of `pickles.recorded.read`, by file name.
    """

    revision: str | None = None
    files: Mapping[str, Any] | None = None
    others: Collection[str] = ()
    sizes: Mapping[str, int | None] | None = None
    samples: Samples = MappingProxyType({})
    pickles: Mapping[str, Any] = MappingProxyType({})


def read_recording(document: Document) -> Recording:
    """Reads a headers.json, except for the headers themselves, which `recorded_shard` parses.

    Raises:
        DocumentError: HF001, it does not have the format that `recording` writes.
    """
    content, where = parse_object(document, _MANY), document.where
    revision, files, others = content.get("revision"), content.get("files"), content.get("beside", [])
    if not isinstance(others, list) or not all(isinstance(name, str) for name in others):
        raise DocumentError(f"{where}: beside is {shown(others)}, but must be a list of file names.")
    if revision is not None and not isinstance(revision, str):
        raise DocumentError(f"{where}: revision is {shown(revision)}, but must be a commit or null.")
    if files is not None and not (
        isinstance(files, dict)
        and all(isinstance(entry, dict) and type(entry.get("bytes")) in (int, type(None)) for entry in files.values())
    ):
        raise DocumentError(f"{where}: files must give bytes and a header for each name.")
    sizes = content.get("sizes")
    if sizes is not None and not (
        isinstance(sizes, dict) and all(type(size) in (int, type(None)) for size in sizes.values())
    ):
        raise DocumentError(f"{where}: sizes must give bytes, or null, for each name.")
    try:
        known = samples.read(content.get("samples", {}))
    except ValueError:
        raise DocumentError(f"{where}: samples must give digests by begin-end for each file.") from None
    pickles = content.get("pickles", {})
    if not isinstance(pickles, dict) or not all(isinstance(entry, dict) for entry in pickles.values()):
        raise DocumentError(f"{where}: pickles must give what was read of each pickled file.")
    return Recording(revision, files, others, sizes, known, pickles)


def recorded_shard(name: str, recorded: Mapping[str, Any]) -> Shard:
    """One shard of a recording; its header must follow the same rules as a published one."""
    size, header, length = recorded.get("bytes"), recorded.get("header"), recorded.get("length")
    if header is None:
        fix = recorded.get("fix")
        return Shard(name, size, problem=str(recorded.get("problem")), fix=fix if isinstance(fix, str) else None)
    try:
        written = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
        parsed = parse_header(printable(name), written)
    except DocumentError as error:
        return Shard(name, size, problem=error.text, fix=error.fix)
    if type(length) is not int:  # the reference writer puts no spaces, and pads to a multiple of 8
        length = -(-len(written) // 8) * 8
    return Shard(name, size, parsed._replace(length=length))


def recording(
    revision: str | None,
    shards: Mapping[str, Shard] | None,
    others: Collection[str],
    sizes: Mapping[str, int | None] | None = None,
    read: Samples = MappingProxyType({}),
    pickles: Mapping[str, Any] = MappingProxyType({}),
) -> bytes:
    """The headers.json of a run.

    Args:
        shards: None if it read no headers.
        read: pieces of files that it read.
        pickles: pickled files that it read, as `pickles.recorded` writes them.
    """
    content: dict[str, Any] = {"revision": revision}
    if others:
        content["beside"] = list(others)
    if sizes is not None:
        content["sizes"] = dict(sizes)
    if read:
        content["samples"] = samples.written(read)
    if pickles:
        content["pickles"] = dict(pickles)
    fields = [f" {_json(name)}: {_json(value)}".encode() for name, value in content.items()]
    if shards is not None:
        files = [f"  {_json(name)}: ".encode() + _recorded(shard) for name, shard in sorted(shards.items())]
        fields.append(b' "files": {\n' + b",\n".join(files) + b"\n }")
    return b"{\n" + b",\n".join(fields) + b"\n}\n"


def _recorded(shard: Shard) -> bytes:
    if shard.header is None:
        fix = {"fix": shard.fix} if shard.fix else {}
        return _json({"bytes": shard.size, "problem": shard.problem, **fix}).encode()
    # The header is JSON already, and has been read as such.
    facts = f'{{"bytes": {_json(shard.size)}, "length": {shard.header.length}, "header": '
    return facts.encode() + shard.header.raw.strip() + b"}"


_json = json.dumps
