"""Reads a lock, and says what is wrong with one that cannot be used."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.diffing.locks.statement import PREDICATE, SCHEMA, STATEMENT
from hfcount.errors import DocumentError, HfcountError
from hfcount.fetcher.files import opened
from hfcount.formats.json import Document, parse_value
from hfcount.text import printable, shown

_MOST = 400_000_000  # bytes
_SHA256 = re.compile(r"[0-9a-f]{64}")
_ANEW = "Make it anew with `hfcount lock MODEL`."
_ROW: Mapping[str, type] = {"file": str, "name": str, "dtype": str, "shape": list, "tensors": int, "sha256": str}
_FILE: Mapping[str, type] = {"bytes": int}
_FILE_ALSO: Mapping[str, type] = {"header": str, "metadata": dict}
_CONFIG: Mapping[str, type] = {"values": dict}
_KINDS: Mapping[type, str] = {int: "a whole number", str: "a text", list: "a list", dict: "an object"}


class LockError(HfcountError):
    """A lock cannot be used; the text says where, why, and what to do."""

    kind = "LockError"


class Lock(NamedTuple):
    """A lock as it was read.

    Args:
        digests: the sha256 of every file, by path.
        predicate: what else it says.
    """

    digests: Mapping[str, str]
    predicate: Mapping[str, Any]

    @property
    def files(self) -> Mapping[str, Any]:
        """Bytes and header digests of the files, by path."""
        files: Mapping[str, Any] = self.predicate["files"]
        return files


def read_lock(path: Path) -> Lock:
    """The lock in a file.

    Raises:
        LockError: it cannot be read, is broken, of another predicate type, or of a later schema.
        FetchError: it is no regular file, or cannot be opened.
    """
    where = printable(str(path))
    with opened(path, where) as file:
        raw = file.read(_MOST + 1) if file is not None else None
    if raw is None:
        raise LockError(f"there is no file {where}. `hfcount lock MODEL -o {where}` makes it.")
    if len(raw) > _MOST:
        raise LockError(f"{where} has more than {_MOST:,} bytes, which no lock has. {_ANEW}")
    try:
        value = parse_value(Document(where, raw), many=10_000_000)
    except DocumentError as error:
        raise LockError(f"{error.text} It is no lock. {_ANEW}") from None
    return _read(where, value)


def _read(where: str, value: Any) -> Lock:
    if isinstance(value, dict) and {"payload", "payloadType"} <= value.keys():
        text = "is a signed envelope. Verify its signature, and give the lock that was signed"
        raise LockError(f"{where} {text}.")
    if not isinstance(value, dict) or value.get("_type") != STATEMENT:
        kind = shown(value.get("_type")) if isinstance(value, dict) else shown(value)
        raise LockError(f"{where}: _type is {kind}, but a lock is an in-toto statement, {STATEMENT}. {_ANEW}")
    _check_type(where, value.get("predicateType"), value.get("predicate"))
    digests, predicate = _digests(where, value.get("subject")), value["predicate"]
    _check_predicate(where, predicate, digests)
    return Lock(digests, predicate)


def _check_type(where: str, kind: Any, predicate: Any) -> None:
    if not isinstance(kind, str) or not kind.startswith(PREDICATE):
        text = f"{where}: predicateType is {shown(kind)}, but that of a lock is {PREDICATE}{SCHEMA}."
        raise LockError(f"{text} It is a statement of another tool. {_ANEW}")
    version = predicate.get("schema") if isinstance(predicate, dict) else None
    if type(version) is not int:
        raise LockError(f"{where}: predicate.schema is {shown(version)}, but must be a number. {_ANEW}")
    if version > SCHEMA or kind != f"{PREDICATE}{version}":
        text = f"{where}: its schema is {version} ({printable(kind)}), and this hfcount reads schema {SCHEMA}."
        raise LockError(f"{text} Update hfcount, or make the lock anew with this one: `hfcount lock MODEL`.")


def _digests(where: str, subject: Any) -> dict[str, str]:
    digests: dict[str, str] = {}
    for number, entry in enumerate(subject if isinstance(subject, list) else [None]):
        name, sums = (entry.get("name"), entry.get("digest")) if isinstance(entry, dict) else (None, None)
        sha256 = sums.get("sha256") if isinstance(sums, dict) else None
        if not isinstance(name, str) or not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
            raise LockError(f"{where}: subject[{number}] has no name with a sha256 digest. {_ANEW}")
        if name in digests:
            raise LockError(f"{where}: subject has {printable(name)} twice. {_ANEW}")
        digests[name] = sha256
    if not digests:
        raise LockError(f"{where}: subject is empty, so that it locks nothing. {_ANEW}")
    return digests


def _check_predicate(where: str, predicate: Mapping[str, Any], digests: Mapping[str, str]) -> None:
    files = _of_kind(f"{where}: predicate.files", predicate.get("files"), dict)
    for name, facts in files.items():
        _check_fields(f"{where}: predicate.files[{shown(name)}]", facts, _FILE, _FILE_ALSO)
    if files.keys() != digests.keys():
        name = min(files.keys() ^ digests.keys())
        raise LockError(f"{where}: {printable(name)} is in only one of subject and predicate.files. {_ANEW}")
    rows = _of_kind(f"{where}: predicate.tensors", predicate.get("tensors"), list)
    for number, row in enumerate(rows):
        _check_fields(f"{where}: predicate.tensors[{number}]", row, _ROW, {})
        for size in row["shape"]:
            _of_kind(f"{where}: an entry of predicate.tensors[{number}].shape", size, int)
    kept = _of_kind(f"{where}: predicate.configs", predicate.get("configs"), dict)
    for name, config in kept.items():
        _check_fields(f"{where}: predicate.configs[{shown(name)}]", config, _CONFIG, {})


def _check_fields(place: str, entry: Any, kinds: Mapping[str, type], also: Mapping[str, type]) -> None:
    """Raises LockError unless an entry has fields of such kinds, and of `also` those that it has."""
    _of_kind(place, entry, dict)
    for field, kind in kinds.items():
        _of_kind(f"{place}.{field}", entry.get(field), kind)
    for field, kind in also.items():
        if field in entry:
            _of_kind(f"{place}.{field}", entry[field], kind)


def _of_kind(place: str, value: Any, kind: type) -> Any:
    """The value; raises LockError if it is of another kind."""
    if type(value) is not kind:
        raise LockError(f"{place} is {shown(value)}, but must be {_KINDS[kind]}. {_ANEW}")
    return value
