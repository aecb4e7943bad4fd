"""A JSON parser that is stricter than the standard library's."""

import json
from collections import Counter
from math import isfinite
from typing import Any, NamedTuple

from hfcount.errors import DocumentError
from hfcount.text import printable, shown

_DEPTH, _FEW = 64, 50
MANY = 1_000_000
"""Values that a document may have: twice as many as the largest index known. Each takes some 100 bytes of memory,
however few of the document's."""


class Document(NamedTuple):
    """One file as it was read; `where` is its name in messages."""

    where: str
    raw: bytes


def parse_object(document: Document, many: int = MANY, endless: bool = False) -> dict[str, Any]:
    """The JSON object that a document holds, of at most so many values.

    Stricter than the standard library: UTF-8 without a byte order mark, no duplicate keys, no NaN or Infinity unless
    `endless`, nothing after the end, at most 64 levels.

    Raises:
        DocumentError: HF001, with what is wrong and where.
    """
    value = parse_loosely(document, many, endless)
    check_keys(document, _count_keys(document.where, value, _brackets(document.raw)))
    return value


def parse_loosely(document: Document, many: int = MANY, endless: bool = False) -> dict[str, Any]:
    """As `parse_object`, but allows duplicate keys and any nesting that the parser can read."""
    value = parse_value(document, many, endless)
    if not isinstance(value, dict):
        raise DocumentError(f"{document.where} holds {shown(value)}, but must hold an object.")
    return value


def parse_value(document: Document, many: int = MANY, endless: bool = False) -> Any:
    """As `parse_loosely`, but any JSON value will do."""
    where, raw = document.where, document.raw

    def refuse(constant: str) -> None:
        raise DocumentError(f"{where}: {constant} is not a JSON number.")

    if not raw or raw.isspace():
        raise DocumentError(f"{where} is empty ({len(raw):,} bytes).", fix="Download it again.")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise DocumentError(
            f"{where} begins with a byte order mark, which JSON does not allow.", fix="Save it without one."
        )
    check_substitute(where, raw, "HF001")
    if len(raw) > 2 * many and _has_more(raw, many):
        raise DocumentError(f"{where} holds more than {many:,} values.")
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=float if endless else refuse)
    except UnicodeDecodeError as error:
        raise DocumentError(f"{where} is not UTF-8: byte {error.start:,} is 0x{raw[error.start]:02x}.") from None
    except RecursionError:
        raise _too_deep(where) from None
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"{where} is not JSON: {error.msg} at line {error.lineno:,}, column {error.colno:,} of {len(raw):,} bytes.",
            fix="Download it again, or correct it there.",
        ) from None
    except ValueError:  # Python reads no number of more than 4,300 digits
        raise DocumentError(f"{where} has a number of more than 4,300 digits.") from None
    return value


def may_be_endless(document: Document) -> bool:
    """Whether a document may hold NaN or Infinity, which are no numbers of JSON, though Python writes them."""
    return b"Infinity" in document.raw or b"NaN" in document.raw


def found_endless(value: Any, path: str = "") -> tuple[str, str] | None:
    """The first number of what was read that JSON does not have: where it is, and as it is written; None if none is."""
    if isinstance(value, float):
        return None if isfinite(value) else (path, shown(value))
    named = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inner = (found_endless(item, _place(path, key)) for key, item in named)
    return next(filter(None, inner), None)


def _place(path: str, key: str | int) -> str:
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def _has_more(raw: bytes, many: int) -> bool:
    """Whether a document may have more than so many values: each follows a comma or begins an object or a list."""
    left = many - raw.count(b",")
    for bracket in (b"{", b"["):  # of which large documents have few, and to find is faster than to count
        place = raw.find(bracket)
        while place >= 0 and left >= 0:
            left, place = left - 1, raw.find(bracket, place + 1)
    return left < 0


_POINTER = "In a clone, run `git lfs pull`. In a repo on the Hub, upload the file itself."
"""What to do about a Git LFS pointer in place of a file."""


def check_substitute(where: str, raw: bytes, code: str) -> None:
    """Raises DocumentError, with this code, for a Git LFS pointer or an HTML page in place of the file."""
    if raw.startswith(b"version https://git-lfs"):
        raise DocumentError(f"{where} is a Git LFS pointer, not the file itself.", code, fix=_POINTER)
    if raw.lstrip()[:15].lower().startswith((b"<!doctype", b"<html")):
        raise DocumentError(f"{where} is an HTML page, probably a server's error page.", code, fix="Download it again.")


def check_keys(document: Document, keys: int) -> None:
    """Raises DocumentError for a document with a duplicate key; `keys` is the number of keys that were read.

    Each key has a colon: if there are as many colons as keys, no key was lost, and the document is not parsed again.
    """
    if document.raw.count(b":") != keys:
        try:
            json.loads(document.raw.decode("utf-8"), object_pairs_hook=_once)
        except ValueError as error:
            raise DocumentError(f"{document.where}: {printable(str(error))}.") from None


def _too_deep(where: str) -> DocumentError:
    return DocumentError(f"{where} is nested more than {_DEPTH} levels deep.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f'duplicate key "{printable(twice, 60)}" in one object')
    return result


def _brackets(raw: bytes) -> int | None:
    """How many objects and lists a document has at most; None if they are many."""
    count = 0
    for bracket in (b"{", b"["):
        place = raw.find(bracket)
        while place >= 0:
            count, place = count + 1, raw.find(bracket, place + 1)
            if count > _FEW:
                return None
    return count


def _count_keys(where: str, value: Any, most: int | None) -> int:
    """The number of keys in all its objects, of which, lists included, there are `most`; an error if nested too deep.

    Raises:
        DocumentError: it has more levels than are read.
    """
    count, level, visited = 0, [value], 1
    for _ in range(_DEPTH):
        count += sum(len(node) for node in level if isinstance(node, dict))
        if visited == most:
            return count
        members = [node.values() if isinstance(node, dict) else node for node in level if type(node) in (dict, list)]
        # The set of types first: an index has an object of 100,000 strings, which need not be visited one by one.
        nesting = [values for values in members if not {dict, list}.isdisjoint(map(type, values))]
        level = [inner for values in nesting for inner in values if isinstance(inner, (dict, list))]
        visited += len(level)
        if not level:
            return count
    raise _too_deep(where)
