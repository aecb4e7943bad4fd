"""JSON text that is edited in place: what is not edited stays, byte for byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hfcount.repair.members import with_keys, with_value, without

INDENTED = '{\n  "a": 1,\n  "b": {\n    "x": [\n      1,\n      2\n    ]\n  },\n  "d": "é"\n}\n'

SET = {
    "a value": (INDENTED, ("a",), 7, INDENTED.replace('"a": 1', '"a": 7')),
    "within": (INDENTED, ("b", "y"), True, INDENTED.replace("    ]\n", '    ],\n    "y": true\n')),
    "a list on several lines": (INDENTED, ("b", "x"), [3], INDENTED.replace("1,\n      2", "3")),
    "a key that sorts within": (INDENTED, ("c",), None, INDENTED.replace('  "d"', '  "c": null,\n  "d"')),
    "a key that sorts last": (INDENTED, ("e",), 2, INDENTED.replace('"é"', '"é",\n  "e": 2')),
    "an object": ('{\n "a": 1,\n "b": 2\n}', ("c",), {"x": 1}, '{\n "a": 1,\n "b": 2,\n "c": {\n  "x": 1\n }\n}'),
    "in no order": ('{"b": 1, "a": 2}', ("aa",), 3, '{"b": 1, "a": 2, "aa": 3}'),
    "on one line": ('{"a": 1, "c": 2}', ("b",), [1], '{"a": 1, "b": [1], "c": 2}'),
    "without spaces": ('{"a":1}', ("b",), 2, '{"a":1,"b":2}'),
    "in tabs": ('{\n\t"a": 1\n}', ("b",), 2, '{\n\t"a": 1,\n\t"b": 2\n}'),
    "in lines of Windows": ('{\r\n  "a": 1\r\n}\r\n', ("b",), 2, '{\r\n  "a": 1,\r\n  "b": 2\r\n}\r\n'),
    "into nothing": ("{ }", ("a",), 1, '{"a": 1}'),
    "into nothing within": ('{\n  "a": {}\n}', ("a", "x"), 1, '{\n  "a": {\n    "x": 1\n  }\n}'),
    "into spaces within": ('{"a": {  }, "b": 1}', ("a", "x"), 1, '{"a": {"x": 1}, "b": 1}'),
    "into nothing without spaces": ('{"b":1,"a":{}}', ("a", "x"), 1, '{"b":1,"a":{"x": 1}}'),
    "what only looks like a key": ('{"x": "\\"a\\": 1", "a": 2}', ("a",), 3, '{"x": "\\"a\\": 1", "a": 3}'),
    "an endless number": ('{"a": Infinity, "b": 1}', ("b",), 2, '{"a": Infinity, "b": 2}'),
}


@pytest.mark.parametrize(("text", "path", "value", "expected"), SET.values(), ids=SET)
def test_a_value_is_set(text: str, path: tuple[str, ...], value: object, expected: str) -> None:
    assert with_value(text, path, value) == expected
    assert with_value(expected, path, value) == expected


GONE = {
    "the first": (INDENTED, ("a",), INDENTED.replace('  "a": 1,\n', "")),
    "one within": (INDENTED, ("b",), '{\n  "a": 1,\n  "d": "é"\n}\n'),
    "the last": (INDENTED, ("d",), INDENTED.replace(',\n  "d": "é"', "")),
    "the only one": (INDENTED, ("b", "x"), '{\n  "a": 1,\n  "b": {},\n  "d": "é"\n}\n'),
}


@pytest.mark.parametrize(("text", "path", "expected"), GONE.values(), ids=GONE)
def test_a_key_is_removed(text: str, path: tuple[str, ...], expected: str) -> None:
    assert without(text, path) == expected


def test_keys_are_renamed() -> None:
    assert with_keys(INDENTED, ("b",), {"x": "é", "a": "?"}) == INDENTED.replace('"x"', '"é"')


def test_a_path_that_leads_nowhere() -> None:
    for path in (("z", "y"), ("a", "y"), ("d", "y")):
        with pytest.raises(KeyError):
            with_value(INDENTED, path, 1)
    with pytest.raises(KeyError):
        without(INDENTED, ("z",))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=3), VALUES, max_size=5),
    st.text(max_size=3),
    VALUES,
    st.sampled_from([None, 1, 2, "\t"]),
)
def test_any_object_is_edited_as_its_values_are(
    values: dict[str, object], key: str, value: object, indent: int | str | None
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=False)
    changed = with_value(text, (key,), value)
    assert json.loads(changed) == values | {key: value}
    assert json.loads(without(changed, (key,))) == {name: one for name, one in values.items() if name != key}
    if key in values:
        assert with_value(text, (key,), values[key]) == text or not values[key]
