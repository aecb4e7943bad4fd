"""headers.json, in which a run records the headers that it read:

    {"revision": the commit, or null,
     "files": {name: {"bytes": of the file, "length": bytes of the header, "header": {...}} or
        {"bytes", "problem": what is wrong, "fix": what to do}},
     "beside": [names of the other files, where there is no index]}

Without `files` no headers were read. `length` may be left out; it is then that of the format's reference writer.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hfcount.errors import DocumentError
from hfcount.formats.json import Document, parse_object
from hfcount.formats.safetensors import Shard, parse_header
from hfcount.text import printable, shown


@dataclass(frozen=True, slots=True)
class Recording:
    """The content of a headers.json.

    Args:
        files: input of `recorded_shard`, by file name; None if no headers were read.
        others: names of the other files.
    """

    revision: str | None = None
    files: Mapping[str, Any] | None = None
    others: Collection[str] = ()


def read_recording(document: Document) -> Recording:
    """Reads a headers.json, except for the headers themselves, which `recorded_shard` parses.

    Raises:
        DocumentError: HF001, it does not have the format that `recording` writes.
    """
    content, where = parse_object(document), document.where
    revision, files, others = content.get("revision"), content.get("files"), content.get("beside", [])
    if not isinstance(others, list) or not all(isinstance(name, str) for name in others):
        raise DocumentError(f"{where}: beside is {shown(others)}, and must be a list of file names.")
    if revision is not None and not isinstance(revision, str):
        raise DocumentError(f"{where}: revision is {shown(revision)}, and must be a commit or null.")
    if files is not None and not (
        isinstance(files, dict)
        and all(isinstance(one, dict) and type(one.get("bytes")) in (int, type(None)) for one in files.values())
    ):
        raise DocumentError(f"{where}: files must give bytes and a header for each name.")
    return Recording(revision, files, others)


def recorded_shard(name: str, recorded: Mapping[str, Any]) -> Shard:
    """One shard of a recording; its header must follow the same rules as a published one."""
    size, header, length = recorded.get("bytes"), recorded.get("header"), recorded.get("length")
    if header is None:
        fix = recorded.get("fix")
        return Shard(name, size, problem=str(recorded.get("problem")), fix=fix if isinstance(fix, str) else None)
    try:
        parsed = parse_header(printable(name), json.dumps(header).encode())
    except DocumentError as error:
        return Shard(name, size, problem=error.said, fix=error.fix)
    if type(length) is not int:  # the reference writer puts no spaces, and pads to a multiple of 8
        written = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
        length = -(-len(written) // 8) * 8
    return Shard(name, size, replace(parsed, length=length))


def recording(revision: str | None, shards: Mapping[str, Shard] | None, others: Collection[str]) -> bytes:
    """The headers.json of a run; `shards` is None if it read no headers."""
    content: dict[str, Any] = {"revision": revision}
    if others:
        content["beside"] = list(others)
    if shards is not None:
        content["files"] = {name: _recorded(one) for name, one in sorted(shards.items())}
    return (json.dumps(content, indent=1) + "\n").encode()


def _recorded(one: Shard) -> dict[str, Any]:
    if one.header is None:
        return {"bytes": one.size, "problem": one.problem} | ({"fix": one.fix} if one.fix else {})
    return {"bytes": one.size, "length": one.header.length, "header": json.loads(one.header.raw)}
