"""JSON, more strictly than the standard library reads it."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from hfcount.errors import DocumentError
from hfcount.text import printable, shown

_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Document:
    """One file as it was read; `where` is what messages call it."""

    where: str
    raw: bytes


def parse_object(document: Document) -> dict[str, Any]:
    """The JSON object that a document holds.

    Stricter than the standard library: UTF-8 without a byte order mark, no name twice in one object, no NaN or
    Infinity, nothing after the end, at most 64 levels.

    Raises:
        DocumentError: HF001, with what is wrong and where.
    """
    value = parse_loosely(document)
    try:
        names = _names(value)
    except RecursionError:
        raise _too_deep(document) from None
    check_names(document, names)
    return value


def parse_loosely(document: Document) -> dict[str, Any]:
    """As `parse_object`, but a name may stand twice and nesting is limited by the parser alone."""
    where, raw = document.where, document.raw
    if not raw.strip():
        raise DocumentError(f"{where} is empty ({len(raw):,} bytes). Download it again.")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise DocumentError(f"{where} begins with a byte order mark, which JSON does not allow. Save it without.")
    if raw.startswith(b"version https://git-lfs"):
        raise DocumentError(f"{where} is a Git LFS pointer, not the file itself. Run `git lfs pull`.")
    if raw.lstrip()[:15].lower().startswith((b"<!doctype", b"<html")):
        raise DocumentError(f"{where} is an HTML page, not JSON: some server answered with an error page.")
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise DocumentError(f"{where} is not UTF-8: byte {error.start:,} is 0x{raw[error.start]:02x}.") from None
    except RecursionError:
        raise _too_deep(document) from None
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"{where} is not JSON: {error.msg} at line {error.lineno:,}, column {error.colno:,} of {len(raw):,} bytes."
            " Download it again, or correct it there."
        ) from None
    except _NotANumber as error:
        raise DocumentError(f"{where}: {error} is not a JSON number.") from None
    except ValueError:  # Python reads no number of more than 4,300 digits
        raise DocumentError(f"{where} has a number of more than 4,300 digits.") from None
    if not isinstance(value, dict):
        raise DocumentError(f"{where} holds {shown(value)}, and must hold an object.")
    return value


def check_names(document: Document, names: int) -> None:
    """Refuses a document in which a name stands twice in one object, given how many names were read from it.

    Each name has its colon, so as many of both means that no name was lost; only then is no second look needed.
    """
    if document.raw.count(b":") != names:
        try:
            json.loads(document.raw.decode("utf-8"), object_pairs_hook=_once)
        except ValueError as error:
            raise DocumentError(f"{document.where}: {printable(str(error))}.") from None


def _too_deep(document: Document) -> DocumentError:
    return DocumentError(f"{document.where} is nested more than {_DEPTH} levels deep.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f'the name "{printable(twice, 60)}" stands twice in one object')
    return result


class _NotANumber(ValueError):
    """NaN or Infinity, which the standard library's parser would take."""


def _no_constant(text: str) -> None:
    raise _NotANumber(text)


def _names(value: Any) -> int:
    """How many names its objects have, in all; RecursionError when they are nested too deep."""
    count, level = 0, [value]
    for _ in range(_DEPTH):
        count += sum(len(one) for one in level if isinstance(one, dict))
        members = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, (dict, list))]
        # The types first: an index has one object of 100,000 strings, and no need to look at each.
        nesting = [values for values in members if not {dict, list}.isdisjoint(map(type, values))]
        level = [inner for values in nesting for inner in values if isinstance(inner, (dict, list))]
        if not level:
            return count
    raise RecursionError
