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
_ROW = {"file": str, "name": str, "dtype": str, "shape": list, "tensors": int, "sha256": str}


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
    files, rows, kept = predicate.get("files"), predicate.get("tensors"), predicate.get("configs")
    if not isinstance(files, dict) or not all(map(_is_file, files.values())):
        raise LockError(f"{where}: predicate.files is not what a lock has there. {_ANEW}")
    if files.keys() != digests.keys():
        name = min(files.keys() ^ digests.keys())
        raise LockError(f"{where}: {printable(name)} is in only one of subject and predicate.files. {_ANEW}")
    if not isinstance(rows, list) or not all(map(_is_row, rows)):
        raise LockError(f"{where}: predicate.tensors is not what a lock has there. {_ANEW}")
    if not isinstance(kept, dict) or not all(map(_is_config, kept.values())):
        raise LockError(f"{where}: predicate.configs is not what a lock has there. {_ANEW}")


def _is_file(facts: Any) -> bool:
    if not isinstance(facts, dict) or type(facts.get("bytes")) is not int:
        return False
    return isinstance(facts.get("header", ""), str) and isinstance(facts.get("metadata", {}), dict)


def _is_row(row: Any) -> bool:
    if not isinstance(row, dict) or not all(type(row.get(key)) is kind for key, kind in _ROW.items()):
        return False
    return all(type(size) is int for size in row["shape"])


def _is_config(config: Any) -> bool:
    return isinstance(config, dict) and isinstance(config.get("values"), dict)
