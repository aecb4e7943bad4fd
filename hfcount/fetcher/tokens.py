"""What a tokenizer's files say of added tokens: of each file only that part, so that a recording stays small."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import files
from hfcount.fetcher.interface import TOKENS
from hfcount.formats.json import Document, parse_object
from hfcount.text import printable

_MOST = 4_000_000  # bytes that are read: thousands of added tokens, which come before the vocabulary
BEGINNING = 524_288
"""Bytes that are asked of a Hub: some 3,000 added tokens."""

_DECODER = json.JSONDecoder()
_KEYS = {"tokenizer_config.json": "added_tokens_decoder", "tokenizer.json": "added_tokens"}


def read(folder: Path, label: str | None) -> dict[str, Document]:
    """The documents of a folder that name added tokens, by file; what cannot be read is left out.

    Args:
        label: what messages call the documents; their paths when None.
    """
    found = {}
    for name in TOKENS:
        path = folder / name
        with suppress(FetchError), files.opened(path, name) as file:
            raw = file.read(_MOST) if file else None
            if raw and (part := said(name, raw, len(raw) == _MOST)):
                found[name] = Document((label and f"{label} {name}") or printable(str(path)), part)
    return found


def said(name: str, raw: bytes, cut: bool) -> bytes | None:
    """What a file, or its beginning, says of added tokens, in an object of its own; None if that is nothing."""
    key = _KEYS.get(name)
    if key is None:
        return raw
    text = raw.decode("utf-8", "ignore")
    start = text.find(f'"{key}"')
    if start < 0:
        return None
    start += len(key) + 2
    start += len(text[start : start + 100]) - len(text[start : start + 100].lstrip(" \t\r\n:"))
    try:
        value, _ = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        value = list(_entries(text, start + 1)) if cut and text[start : start + 1] == "[" else None
    return json.dumps({key: value}).encode() if value else None


def _entries(text: str, place: int) -> Iterator[Any]:
    """The entries of a list that is cut off."""
    with suppress(ValueError, RecursionError):
        while True:
            place += len(text[place : place + 100]) - len(text[place : place + 100].lstrip(" \t\r\n,"))
            value, place = _DECODER.raw_decode(text, place)
            yield value


def added(documents: Mapping[str, Document]) -> Iterator[tuple[str, str, int]]:
    """Added tokens: the file, what the token is, and its id; nothing of a file of another form."""
    for name, document in documents.items():
        try:
            content = parse_object(document)
        except DocumentError:
            continue
        key = _KEYS.get(name)
        for token, number in _tokens(content if key is None else content.get(key)):
            if isinstance(token, str) and type(number) is int:
                yield name, token, number


def _tokens(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, list):  # tokenizer.json
        yield from ((one.get("content"), one.get("id")) for one in value if isinstance(one, dict))
    elif isinstance(value, dict):
        for key, one in value.items():
            if not isinstance(one, dict):  # added_tokens.json
                yield key, one
            elif key.isdecimal() and len(key) < 19:  # tokenizer_config.json
                yield one.get("content"), int(key)
