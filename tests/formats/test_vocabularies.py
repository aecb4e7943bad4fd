"""The words of a tokenizer: each kind of file, and what is of another form."""

import json
from base64 import b64encode
from typing import Any

import pytest

from hfcount.formats.vocabularies import file_of, highest, words, words_of_tokenizer


def pieces(*names: bytes) -> bytes:
    """A ModelProto of sentencepiece: a piece each, with a score, and then a field of settings."""
    fields = [b"\x0a" + bytes([len(name)]) + name + b"\x15\x00\x00\x80\xbf" for name in names]
    return b"".join(b"\x0a" + bytes([len(field)]) + field for field in fields) + b"\x12\x02\x08\x01"


LINES = b"".join(b64encode(word) + b" %d\n" % number for word, number in ((b"a", 0), (b"\xff", 7)))

FILES: dict[str, tuple[str, bytes, dict[str, int]]] = {
    "numbered": ("vocab.json", b'{"a": 0, "b": 9, "c": "5", "d": -1, "e": true}', {"a": 0, "b": 9}),
    "lines": ("vocab.txt", b"[PAD]\na\r\n\nb\n\n", {"[PAD]": 0, "a": 1, "": 2, "b": 3}),
    "lines with braces": ("vocab.txt", b"{\n}\n", {"{": 0, "}": 1}),
    "no lines": ("vocab.txt", b"\n", {}),
    "pieces": (
        "tokenizer.model",
        pieces(b"<unk>", b"\xe2\x96\x81a", b"x" * 90),
        {"<unk>": 0, "\u2581a": 1, "x" * 90: 2},
    ),
    "cut pieces": ("spm.model", pieces(b"<unk>", b"a")[:-12], {}),
    "no pieces": ("spiece.model", b"\xff\xff", {}),
    "ranks": ("qwen.tiktoken", LINES, {"a": 0, "\\xff": 7}),
    "no ranks": ("tiktoken.model", b"a b c\n", {}),
    "an excerpt": ("vocab.txt", b'{"b": 3}', {"b": 3}),
}


@pytest.mark.parametrize(("name", "raw", "expected"), FILES.values(), ids=FILES)
def test_words_of_a_file(name: str, raw: bytes, expected: dict[str, int]) -> None:
    assert words(name, raw) == expected


WHOLE: dict[str, tuple[Any, dict[str, int]]] = {
    "a dict": ({"added_tokens": [{"content": "model"}], "model": {"merges": [], "vocab": {"a": 4}}}, {"a": 4}),
    "a list": ({"model": {"vocab": [["a", 0.0], ["b", -1.0], 3]}}, {"a": 0, "b": 1}),
    "words called vocab": ({"model": {"vocab": {"vocab": 1, "model": 2}}}, {"vocab": 1, "model": 2}),
    "no model": ({"vocab": {"a": 1}}, {}),
    "a model of text": ({"model": "vocab"}, {}),
    "nothing": ([], {}),
}


@pytest.mark.parametrize("indent", [None, 2], ids=["dense", "indented"])
@pytest.mark.parametrize(("value", "expected"), WHOLE.values(), ids=WHOLE)
def test_words_of_a_tokenizer(value: Any, expected: dict[str, int], indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert words_of_tokenizer(text) == expected
    assert words_of_tokenizer(text[:-1] + ', "rest') in (expected, {})  # what follows is not parsed
    assert words_of_tokenizer(text[: len(text) // 3]) == {}


def test_the_highest_word_and_the_highest_that_is_read() -> None:
    assert highest({"a": 0, "c": 7, "b": 3}) == {"c": 7}
    assert highest({"a": 0, "<unused_1>": 7, "[PAD]": 6, "b": 3}) == {"<unused_1>": 7, "b": 3}
    assert highest({"<pad>": 1}) == {"<pad>": 1}
    assert highest({}) == {}


def test_which_file_has_the_words() -> None:
    assert file_of({"merges.txt": None, "vocab.json": None, "source.spm": None}) == "vocab.json"
    assert file_of({"sentencepiece.bpe.model": None, "config.json": None}) == "sentencepiece.bpe.model"
    assert file_of({"sentencepiece.bpe.model": None, "dict.txt": None}) is None
    assert file_of({"qwen.tiktoken": None}) == "qwen.tiktoken"
    assert file_of({"config.json": None}) is None
