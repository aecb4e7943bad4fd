"""How foreign values are written: nothing of them reaches a terminal raw."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfcount.text import plural, printable, shown


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("model.layers.0", "model.layers.0"),
        ("überarbeitet 模型", "überarbeitet 模型"),
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\0\x7f\x85", r"\x00\x7f\x85"),
        ("\u202eabc\u2066", r"\u202eabc\u2066"),
        ("\u200b\ufeff", r"\u200b\ufeff"),
        ("\ud800", r"\ud800"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 197 + "..."),
        ("\0" * 100, (r"\x00" * 50)[:197] + "..."),
        ("", ""),
    ],
    ids=lambda text: ascii(text)[:30],
)
def test_printable(text: str, written: str) -> None:
    assert printable(text) == written


_UNSAFE = "Cc Cf Cs Co Cn Zl Zp".split()


@settings(deadline=None)
@given(st.text("aé \n\0\x1b\x9b\u200f\u202e\u2028\ud800\ue000\U000e0001", max_size=20), st.integers(3, 50))
def test_what_is_printable_stays_within_its_limit(text: str, limit: int) -> None:
    assert len(printable(text, limit)) <= limit
    assert [char for char in printable(text, None) if unicodedata.category(char) in _UNSAFE] == []


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a\x1b", r'"a\x1b"'),
        ("x" * 100, '"' + "x" * 57 + '..."'),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-12_345, "-12,345"),
        (10**5000, f"a number of {(10**5000).bit_length()} bits"),
        (1.5, "1.5"),
        (float("-inf"), "-Infinity"),
        ([1], "a list"),
        ({"a": 1}, "an object"),
    ],
    ids=lambda value: ascii(value)[:20] if not isinstance(value, int) else "number",
)
def test_shown(value: object, written: str) -> None:
    assert shown(value) == written


@pytest.mark.parametrize(("count", "text"), [(0, "0 tensors"), (1, "1 tensor"), (1234, "1,234 tensors")])
def test_plural(count: int, text: str) -> None:
    assert plural(count, "tensor") == text
