"""Reads the added tokens of a tokenizer's files, and keeps only that part so that recordings stay small."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import files
from hfcount.fetcher.interface import TOKENIZER, TOKENS
from hfcount.formats.json import Document, parse_object
from hfcount.text import printable

_MOST = 4_000_000  # bytes that are read: thousands of added tokens, which come before the vocabulary
BEGINNING = 524_288
"""Bytes that are asked of a Hub: some 3,000 added tokens."""

_WHOLE = 64_000_000  # bytes of which the last of the vocabulary is looked for
_NEAR = 2_000  # bytes before the end of the vocabulary
_LAST = rb'("(?:[^"\\]|\\.)*")\s*:\s*(\d{1,9})\s*\}[\s,}]*$'
_DECODER = json.JSONDecoder()
_KEYS = {"tokenizer_config.json": "added_tokens_decoder", "tokenizer.json": "added_tokens"}


def read(folder: Path, names: Collection[str], label: str | None) -> dict[str, Document]:
    """The documents of a folder that name added tokens, by file; what cannot be read is left out.

    Args:
        names: of the files that the folder has.
        label: what messages call the documents; their paths when None.
    """
    documents = {}
    for name in (name for name in TOKENS if name in names):
        path = folder / name
        with suppress(FetchError), files.opened(path, name) as file:
            most = _WHOLE if name == TOKENIZER else _MOST
            raw = file.read(most) if file else None
            if raw and (part := excerpt(name, raw, len(raw) == most)):
                documents[name] = Document((label and f"{label} {name}") or printable(str(path)), part)
    return documents


def excerpt(name: str, raw: bytes, cut: bool) -> bytes | None:
    """The added tokens and the last vocabulary entry of a file, as a smaller file; None if there are none.

    Args:
        cut: whether it is only the beginning of the file.
    """
    key = _KEYS.get(name)
    if key is None:
        return raw
    value = _value(raw[:_MOST].decode("utf-8", "ignore"), key, cut or len(raw) > _MOST)
    if name == TOKENIZER and not cut and isinstance(value, list | None) and (last := _last(raw)):
        value = [*(value or ()), last]
    return json.dumps({key: value}).encode() if value else None


def _value(text: str, key: str, cut: bool) -> Any:
    """The value of a key; None if it is not there or not whole, but of a list that is cut off what is there."""
    start = text.find(f'"{key}"')
    if start < 0:
        return None
    start += len(key) + 2
    start += len(text[start : start + 100]) - len(text[start : start + 100].lstrip(" \t\r\n:"))
    try:
        return _DECODER.raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return list(_entries(text, start + 1)) if cut and text[start : start + 1] == "[" else None


def _last(raw: bytes) -> dict[str, Any] | None:
    """The last token of a vocabulary that gives ids, which is mostly that of the highest; None if it does not."""
    end = raw.find(b'"merges":')  # which follow the vocabulary, if there are any
    end = len(raw) if end < 0 else end
    match = re.search(_LAST, raw[max(end - _NEAR, 0) : end])
    if match is None:
        return None
    try:
        return {"id": int(match[2]), "content": json.loads(match[1])}
    except ValueError:
        return None


def _entries(text: str, place: int) -> Iterator[Any]:
    """The entries of a list that is cut off."""
    with suppress(ValueError, RecursionError):
        while True:
            place += len(text[place : place + 100]) - len(text[place : place + 100].lstrip(" \t\r\n,"))
            value, place = _DECODER.raw_decode(text, place)
            yield value


def added(documents: Mapping[str, Document]) -> Iterator[tuple[str, str, int]]:
    """Added tokens: the file, what the token is, and its id; nothing of a file of another form."""
    for name in (name for name in TOKENS if name in documents):
        try:
            content = parse_object(documents[name])
        except DocumentError:
            continue
        for token, number in _TOKENS[name](content):
            if isinstance(token, str) and type(number) is int:
                yield name, token, number


def _listed(content: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Of tokenizer.json: {"added_tokens": [{"id", "content"}]}."""
    value = content.get("added_tokens")
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, dict):
            yield entry.get("content"), entry.get("id")


def _by_id(content: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Of tokenizer_config.json: {"added_tokens_decoder": {id: {"content"}}}."""
    value = content.get("added_tokens_decoder")
    for key, entry in value.items() if isinstance(value, dict) else ():
        if isinstance(entry, dict) and key.isdecimal() and len(key) < 19:
            yield entry.get("content"), int(key)


_TOKENS: Mapping[str, Callable[[Mapping[str, Any]], Iterable[tuple[Any, Any]]]] = {
    "added_tokens.json": lambda content: content.items(),
    "tokenizer_config.json": _by_id,
    TOKENIZER: _listed,
}
"""Tokens with their ids, by the file that has them; no other file has any."""
