"""The index of a checkpoint: which tensor is in which shard, and the totals that it claims."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hfcount.errors import DocumentError
from hfcount.formats.json import Document, parse_object
from hfcount.record import Record
from hfcount.text import plural, printable, shown

MAX_SHARDS = 10_000
MAX_NAME = 1_000  # characters of a tensor's name

_MANY = 100_000
_CLAIM = 2**63
_SHARD = re.compile(r"[^\x00-\x1f\x7f\\:%/]+(/[^\x00-\x1f\x7f\\:%/]+)*")


class Index(Record, kw_only=False):
    """The shard of each tensor, and two claims, in bytes and elements.

    `pickled` where the shards are .bin, `bare` where it has no metadata, which libraries read whatever is in it.
    """

    weight_map: Mapping[str, str]
    shards: frozenset[str]
    total_size: int | None
    total_parameters: int | None
    pickled: bool = False
    bare: bool = False


def read_index(document: Document, suffix: str = ".safetensors") -> Index:
    """The index of a checkpoint.

    Args:
        suffix: what the names of its shards end in: `.bin` where they are pickled.

    Raises:
        DocumentError: HF001, it is malformed; HF002, it names a file outside the repo.
    """
    index, where = parse_object(document), document.where
    weight_map = index.get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        problem = "no weight_map" if weight_map is None else f"{shown(weight_map)} for a weight_map"
        if weight_map == {}:
            problem = "an empty weight_map"
        raise DocumentError(
            f"{where} has {problem}, so it names no tensor.",
            key="weight_map",
            fix="Write the index from the files, or save the model again if they hold no tensor.",
        )
    try:
        shards = frozenset(weight_map.values())
    except TypeError:  # a list or an object is among them
        shards = frozenset()
    if set(map(type, shards)) != {str}:
        name, value = next((name, value) for name, value in weight_map.items() if type(value) is not str)
        raise DocumentError(
            f"{where}: weight_map gives {shown(value)} for {printable(name)}, but must give a file name."
        )
    if max(set(map(len, weight_map))) > MAX_NAME:
        longest = max(weight_map, key=len)
        raise DocumentError(
            f"{where}: a tensor's name has {len(longest):,} characters ({printable(longest, 40)}); at most"
            f" {MAX_NAME:,} are read."
        )
    if len(shards) > MAX_SHARDS:
        raise DocumentError(f"{where} names {plural(len(shards), 'shard')}; at most {MAX_SHARDS:,} are read.")
    for shard in sorted(shards):
        if not is_safe(shard, suffix):
            raise DocumentError(
                f'{where}: weight_map names the file "{printable(shard, 80)}", which is not a plain {suffix} name'
                " inside the repo. Nothing was requested for it.",
                "HF002",
                key="weight_map",
                observed=shard,
                fix="Write the index again.",
            )
    metadata = {} if index.get("metadata") is None else index["metadata"]
    if not isinstance(metadata, dict):
        raise DocumentError(f"{where}: metadata is {shown(metadata)}, but must be an object.", key="metadata")
    _share(weight_map, shards)
    return Index(
        weight_map,
        shards,
        _claim(where, metadata, "total_size", "bytes"),
        _claim(where, metadata, "total_parameters", "elements"),
        suffix == ".bin",
        bare=index.get("metadata") is None,
    )


def _share(weight_map: dict[str, str], shards: Iterable[str]) -> None:
    """Gives the tensors of a shard the same string for its name, of which the parser has made one for each.

    Only where there are so many that the memory is worth the time.
    """
    if len(weight_map) <= _MANY:
        return
    same = {shard: shard for shard in shards}
    for name, shard in weight_map.items():
        weight_map[name] = same[shard]


def is_safe(shard: str, suffix: str = ".safetensors") -> bool:
    """Whether a shard's name refers to a file inside the repo, on every system and in every URL."""
    return (
        len(shard) <= 255
        and shard.isprintable()
        and shard.endswith(suffix)
        and len(shard.rpartition("/")[2]) > len(suffix)
        and _SHARD.fullmatch(shard) is not None
        and not any(segment in ("", ".", "..") for segment in shard.split("/"))
    )


def _claim(where: str, metadata: Mapping[str, Any], name: str, unit: str) -> int | None:
    value = metadata.get(name)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():  # some writers keep sums as floats
        value = int(value)
    if type(value) is not int or not 0 <= value < _CLAIM:
        claim, needed = f"{where}: metadata.{name} is {shown(value)}", f"a whole number of {unit}"
        raise DocumentError(
            f"{claim}, but must be {needed}.", key=f"metadata.{name}", expected=needed, observed=shown(value)
        )
    return value
