"""Strict JSON: what the standard library lets pass and a checkpoint's documents must not hold."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tables import over

from hfcount.errors import DocumentError
from hfcount.formats.json import Document, parse_object


def _parse(raw: bytes) -> dict[str, Any]:
    return parse_object(Document("org/m@ad44e77 config.json", raw))


ACCEPTED: dict[str, tuple[bytes, dict[str, Any]]] = {
    "an empty object": (b"{}", {}),
    "white space around": (b' \r\n\t{"a": 1}\n', {"a": 1}),
    "one name in two objects": (b'{"a": {"b": 1}, "c": {"b": 2}}', {"a": {"b": 1}, "c": {"b": 2}}),
    "one name at two depths": (b'{"a": {"a": 1}}', {"a": {"a": 1}}),
    "names with colons": (b'{"a:b": 1, "a::b": ":"}', {"a:b": 1, "a::b": ":"}),
    "an escaped colon": (rb'{"a\u003ab": 1}', {"a:b": 1}),
    "an empty name": (b'{"": 1}', {"": 1}),
    "names that differ in case": (b'{"a": 1, "A": 2}', {"a": 1, "A": 2}),
    "names that only look alike": ('{"\u00e9": 1, "e\u0301": 2}'.encode(), {"\u00e9": 1, "e\u0301": 2}),
    "a lone surrogate": (rb'{"\ud800": "\udfff"}', {"\ud800": "\udfff"}),
    "beyond the basic plane": ('{"a": "\U0001f600"}'.encode(), {"a": "\U0001f600"}),
    "64 levels": (b'{"a":' + b"[" * 63 + b"]" * 63 + b"}", json.loads('{"a":' + "[" * 63 + "]" * 63 + "}")),
    "4,300 digits": (b'{"a": ' + b"9" * 4300 + b"}", {"a": 10**4300 - 1}),
    "a float out of range": (b'{"a": 1e400}', {"a": float("inf")}),
    "NaN as a text": (b'{"NaN": "Infinity"}', {"NaN": "Infinity"}),
}


@pytest.mark.parametrize(("raw", "value"), ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(raw: bytes, value: dict[str, Any]) -> None:
    assert _parse(raw) == value


@pytest.mark.parametrize("text", ["Infinity", "-Infinity", "NaN"])
def test_numbers_that_end_nowhere_are_accepted_where_asked_for(text: str) -> None:
    found = parse_object(Document("config.json", b'{"a": [0.0, %s]}' % text.encode()), endless=True)
    assert repr(found["a"][1]) == repr(float(text))


REFUSED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "is empty"),
    "white space": (b" \n\n", "is empty"),
    "NUL": (b"\0", "not JSON"),
    "cut off in an object": (b'{"a": 1', "not JSON"),
    "cut off in a name": (b'{"a', "not JSON"),
    "cut off in a character": ('{"a": "é'.encode()[:-1], "not UTF-8"),
    "text after the end": (b'{"a": 1} x', "Extra data"),
    "a second object": (b'{"a": 1}{"a": 1}', "Extra data"),
    "NUL after the end": (b'{"a": 1}\0', "not JSON"),
    "a trailing comma": (b'{"a": 1,}', "not JSON"),
    "a comment": (b'{"a": 1} // it', "not JSON"),
    "single quotes": (b"{'a': 1}", "not JSON"),
    "a raw control character": (b'{"a": "\x01"}', "not JSON"),
    "a key twice": (b'{"a": 1, "a": 1}', 'duplicate key "a"'),
    "a key twice, deep": (b'{"x": [{"y": {"a": 1, "a": 2}}]}', 'duplicate key "a"'),
    "a key twice, escaped": (rb'{"a": 1, "\u0061": 2}', 'duplicate key "a"'),
    "a key twice, with colons": (b'{"a:b": 1, "a:b": 2}', 'duplicate key "a:b"'),
    "a key twice, colons escaped": (rb'{"a\u003a": 1, "a:": 2}', 'duplicate key "a:"'),
    "a key twice, among colons": (b'{"a": ":", "a": "::", "b:": 1}', 'duplicate key "a"'),
    "an empty key twice": (b'{"": 1, "": 2}', 'duplicate key ""'),
    "an object as a value twice": (b'{"a": {"b": 1}, "a": {"c": 1}}', 'duplicate key "a"'),
    "a surrogate twice": (rb'{"\ud800": 1, "\ud800": 2}', "duplicate key"),
    "NaN": (b'{"a": NaN}', "NaN is not a JSON number"),
    "Infinity": (b'{"a": Infinity}', "Infinity is not a JSON number"),
    "-Infinity": (b'{"a": [-Infinity]}', "-Infinity is not a JSON number"),
    "a leading zero": (b'{"a": 01}', "not JSON"),
    "a plus sign": (b'{"a": +1}', "not JSON"),
    "5,000 digits": (b'{"a": ' + b"9" * 5000 + b"}", "digits"),
    "a byte order mark": (b'\xef\xbb\xbf{"a": 1}', "byte order mark"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
    "UTF-16 without a mark": ('{"a": 1}'.encode("utf-16-le"), "not JSON"),
    "UTF-32": ('{"a": 1}'.encode("utf-32"), "not UTF-8"),
    "Latin-1": ('{"a": "é"}'.encode("latin-1"), "not UTF-8"),
    "a surrogate in UTF-8": (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
    "a list": (b"[1]", "holds a list"),
    "null": (b"null", "holds null"),
    "a number": (b"5", "holds 5"),
    "a text": (b'"{}"', 'holds "{}"'),
    "65 levels": (b'{"a":' + b"[" * 64 + b"]" * 64 + b"}", "more than 64 levels"),
    "100,000 objects deep": (b'{"a":' * 100_000, "more than 64 levels"),
    "1 MB of nesting": (b"[" * 1_000_000, "more than 64 levels"),
    "1 MB of nesting, closed": (b'{"a":' + b"[" * 500_000 + b"]" * 500_000 + b"}", "more than 64 levels"),
    "10 MB of nesting": (b"[" * 10_000_000, "more than 1,000,000 values"),
    "a list of a million lists": (b"[" + b"[]," * 1_000_000 + b"0]", "more than 1,000,000 values"),
    "a Git LFS pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull"),
    "an HTML page": (b"<!DOCTYPE html><html><body>404</body></html>", "HTML page"),
    "an HTML page without a doctype": (b"\n<HTML><head>", "HTML page"),
    "a gzip file": (b"\x1f\x8b\x08\x00", "not UTF-8"),
}


@over(("raw", "why"), REFUSED.values(), ids=REFUSED)
def test_refused(raw: bytes, why: str) -> None:
    with pytest.raises(DocumentError) as raised:
        _parse(raw)
    message = str(raised.value)
    assert why in message
    assert message.startswith("org/m@ad44e77 config.json")
    assert (raised.value.code, message.isprintable(), len(message) < 300) == ("HF001", True, True)


@pytest.mark.parametrize("name", ["\x1b[31m", "\u202e", "\ud800", "x" * 5000], ids=ascii)
def test_a_hostile_name_is_shown_escaped_and_cut(name: str) -> None:
    with pytest.raises(DocumentError) as raised:
        _parse(f"{{{json.dumps(name)}: 1, {json.dumps(name)}: 2}}".encode())
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 300


class _Refused(Exception):
    """The reference below does not take it either."""


def _reference(raw: bytes) -> dict[str, Any]:
    """What the standard library reads, if it is an object, no key is duplicate, and all numbers are JSON's."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise _Refused
        return dict(pairs)

    def constant(_: str) -> None:
        raise _Refused

    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=once, parse_constant=constant)
    except ValueError:
        raise _Refused from None
    if not isinstance(value, dict):
        raise _Refused
    return value


def _same(raw: bytes) -> None:
    try:
        expected = _reference(raw)
    except _Refused:
        with pytest.raises(DocumentError):
            _parse(raw)
    else:
        assert _parse(raw) == expected


@settings(deadline=None)
@given(st.binary(max_size=60))
@example(b'{"a":1}')
def test_any_bytes_are_an_object_or_an_error_on_purpose(raw: bytes) -> None:
    _same(raw)


_TOKENS = st.sampled_from(
    ["{", "}", "[", "]", ",", ":", '"a"', '"a:"', r'"\u0061"', '"', "1", "-", "e9", "null", "NaN", " ", "\\", "é"]
)


@settings(deadline=None)
@given(st.lists(_TOKENS, max_size=16).map("".join))
def test_any_tokens_are_an_object_or_an_error_on_purpose(text: str) -> None:
    _same(text.encode())
    _same(f'{{"x": {text}}}'.encode())


_NAMES = st.sampled_from(["a", "b", "a:", ":", "", "\ud800", '"'])
_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), _NAMES),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.lists(st.tuples(_NAMES, inner), max_size=3).map(tuple)),
    max_leaves=12,
)


def _text(value: object) -> str:
    """JSON in which a tuple of pairs is an object, whatever its names."""
    if isinstance(value, tuple):
        return "{" + ", ".join(f"{json.dumps(name)}: {_text(inner)}" for name, inner in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    return json.dumps(value)


@settings(deadline=None)
@given(st.lists(st.tuples(_NAMES, _VALUES), max_size=4).map(tuple))
def test_a_document_is_read_as_the_standard_library_reads_it_unless_a_key_is_duplicate(value: object) -> None:
    _same(_text(value).encode())
