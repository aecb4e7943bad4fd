"""The words of a tokenizer with their ids, by the file that has them."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

Vocabulary = Mapping[str, int]
"""Ids by word."""

FILES = ("vocab.json", "vocab.txt", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model")
"""Files of words beside tokenizer.json, which goes before all; the first that is there counts."""

TIKTOKEN = r"(.*\.)?tiktoken(\.model)?"
"""How files are called that have a word in base64 and its id in each line."""

_NOT_ITS_WORDS = ("dict.txt",)
"""Files beside which the pieces of sentencepiece are not the words: their ids are in these (transformers: bartpho)."""

_UNREAD = r"(?i)(?<![a-z])(pad|mask|image|video|audio|vision|reserved|unused|placeholder|extra_id)(?![a-z])"
_MOST, _MOST_PIECES = 3_000_000, 1_000_000
"""Entries of a file, and pieces of sentencepiece, beyond which nothing is made of it; vocabularies have 300,000."""


class _TooMany(ValueError):
    """A model of sentencepiece has more pieces than are read."""


_MEMBERS = 1000
"""Members of an object in which a key is looked for; a tokenizer.json has ten."""

_DECODER = json.JSONDecoder()
_SPACE = r"[ \t\r\n]*"  # compiled where it is first used


def is_placeholder(word: str) -> bool:
    """Whether a word only pads, or another input takes its place, so that it may never be looked up."""
    return re.search(_UNREAD, word) is not None


def file_of(names: Mapping[str, object]) -> str | None:
    """The file with the words, of a tokenizer that has no tokenizer.json; None if no known one is there."""
    named = next((name for name in FILES if name in names), None)
    if named is not None and named.endswith(".model") and not set(_NOT_ITS_WORDS).isdisjoint(names):
        return None
    return named or next((name for name in sorted(names) if "tiktoken" in name and re.fullmatch(TIKTOKEN, name)), None)


def words(name: str, raw: bytes) -> dict[str, int]:
    """The words of a file by its name; empty where it is of another form."""
    if max(raw.count(b"\n"), raw.count(b",")) > _MOST:
        return {}
    if raw[:1] == b"{":
        with suppress(ValueError, RecursionError):
            if numbered := _numbered(json.loads(raw)):
                return numbered
    with suppress(ValueError):
        if name == "vocab.txt":
            return _lines(raw)
        return _ranks(raw) if re.fullmatch(TIKTOKEN, name) else _pieces(raw)
    return {}


def is_model(raw: bytes) -> bool:
    """Whether a file may be a model of sentencepiece, or has a word in base64 and its id in each line."""
    for parse in (_pieces, _ranks):
        try:
            parse(raw)
        except _TooMany:
            return True
        except ValueError:
            continue
        return True
    return False


def words_of_tokenizer(text: str) -> dict[str, int]:
    """The words of a tokenizer.json, of which what follows them is not parsed; empty where it is of another form."""
    if text.count(",") > _MOST:
        return {}
    with suppress(ValueError, RecursionError):
        start = _value_of(text, _begin(text, 0), "model")
        place = start if start is None else _value_of(text, _begin(text, start), "vocab")
        if place is not None:
            value = _DECODER.raw_decode(text, place)[0]
            return _numbered(value) if isinstance(value, dict) else _listed(value)
    return {}


def highest(vocabulary: dict[str, int]) -> dict[str, int]:
    """The word with the highest id and, where that is a placeholder, the highest of the others."""
    if not vocabulary:
        return {}
    top = max(vocabulary.values())
    chosen = [next(word for word, number in reversed(vocabulary.items()) if number == top)]
    if is_placeholder(chosen[0]):
        falling = sorted(vocabulary, key=vocabulary.__getitem__, reverse=True)
        chosen += [word for word in falling if not is_placeholder(word)][:1]
    return {word: vocabulary[word] for word in chosen}


def _begin(text: str, place: int) -> int:
    """Where the first member of an object begins; raises ValueError if there is no object."""
    place = _skipped(text, place)
    if text[place : place + 1] != "{":
        raise ValueError("no object")
    return place + 1


def _value_of(text: str, place: int, wanted: str) -> int | None:
    """Where the value of a member begins, given where the first member begins; None where there is no such member."""
    for _ in range(_MEMBERS):
        if text[place := _skipped(text, place)] == "}":
            break
        key, place = _DECODER.raw_decode(text, place)
        place = _skipped(text, place)
        if text[place : place + 1] != ":":
            break
        place = _skipped(text, place + 1)
        if key == wanted:
            return place
        place = _skipped(text, _DECODER.raw_decode(text, place)[1])
        if text[place : place + 1] != ",":
            break
        place += 1
    return None


def _skipped(text: str, place: int) -> int:
    match = re.compile(_SPACE).match(text, place)
    place = match.end() if match else place
    if place >= len(text):
        raise ValueError("cut off")
    return place


def _numbered(value: Any) -> dict[str, int]:
    if not isinstance(value, dict):
        return {}
    if {*map(type, value.values())} == {int} and min(value.values()) >= 0:
        return value  # as nearly all are
    return {word: number for word, number in value.items() if type(number) is int and number >= 0}


def _listed(value: Any) -> dict[str, int]:
    """Of Unigram: [[word, score], ...], whose ids are their places."""
    entries = value if isinstance(value, list) else []
    return {entry[0]: place for place, entry in enumerate(entries) if _is_scored(entry)}


def _is_scored(entry: Any) -> bool:
    return isinstance(entry, list) and bool(entry) and isinstance(entry[0], str)


def _lines(raw: bytes) -> dict[str, int]:
    """Of WordPiece: a word a line; blank lines at the end are none."""
    lines = raw.decode("utf-8", "replace").rstrip("\r\n").split("\n")
    return {line.rstrip("\r"): place for place, line in enumerate(lines)} if raw.strip() else {}


def _ranks(raw: bytes) -> dict[str, int]:
    """Of tiktoken: a word in base64 and its id a line; raises ValueError for a line of another form."""
    from base64 import b64decode  # few have such a file

    ranks = {}
    for line in raw.split(b"\n"):
        if line.strip():
            word, number = line.split()
            ranks[b64decode(word).decode("utf-8", "backslashreplace")] = int(number)
    return ranks


def _pieces(raw: bytes) -> dict[str, int]:
    """Of sentencepiece: the pieces of a ModelProto, whose ids are their places."""
    pieces: dict[str, int] = {}
    number = 0
    for field, value in _fields(raw, 0, len(raw)):
        if field == 1 and value is not None:
            pieces[_word(raw, *value).decode("utf-8", "backslashreplace")] = number
            number += 1
            if number > _MOST_PIECES:
                raise _TooMany
    return pieces


def _word(raw: bytes, start: int, end: int) -> bytes:
    """The word of a piece, which is nearly always its first field and short."""
    if end - start >= 2 and raw[start] == 10 and raw[start + 1] < 128:
        return raw[start + 2 : min(start + 2 + raw[start + 1], end)]
    return next((raw[slice(*part)] for field, part in _fields(raw, start, end) if field == 1 and part), b"")


def _fields(raw: bytes, place: int, end: int) -> Iterator[tuple[int, tuple[int, int] | None]]:
    """The fields of a message of protobuf: number, and where its bytes are if it has a length.

    Raises:
        ValueError: it is no such message.
    """
    while place < end:
        tag, place = _varint(raw, place, end)
        kind = tag & 7
        if kind == 2:
            length, place = _varint(raw, place, end)
            if length > end - place:
                raise ValueError("cut off")
            yield tag >> 3, (place, place + length)
            place += length
        elif kind == 0:
            place = _varint(raw, place, end)[1]
            yield tag >> 3, None
        elif kind in _WIDTHS:
            place += _WIDTHS[kind]
            yield tag >> 3, None
        else:
            raise ValueError("no message of protobuf")


_WIDTHS = {1: 8, 5: 4}  # bytes of the kinds of fields that are of fixed width


def _varint(raw: bytes, place: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while place < end and shift < 70:
        byte = raw[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
    raise ValueError("cut off")
