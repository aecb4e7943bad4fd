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
            if raw and (part := _part(raw, _KEYS.get(name))):
                found[name] = Document((label and f"{label} {name}") or printable(str(path)), part)
    return found


def _part(raw: bytes, key: str | None) -> bytes | None:
    """The value of one key, in an object of its own; None if it is not there or not whole."""
    if key is None:
        return raw
    text = raw.decode("utf-8", "ignore")
    start = text.find(f'"{key}"')
    if start < 0:
        return None
    start += len(key) + 2
    start += len(text[start : start + 100]) - len(text[start : start + 100].lstrip(" \t\r\n:"))
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return json.dumps({key: value}).encode() if value else None


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
