"""Findings in words: a rule says its message as a template, and a finding's facts fill it in.

A template is a format string. `[...]` is left out unless all its facts are there, `[fact?...]` unless that one is true;
one that begins with a semicolon loses it after a colon, as the first of a list. `{count:tensor}` is `2 tensors`,
`{count:is|are}` a word in singular or plural, `{shape:shape}` `12×24`, `{name:120}` a text cut to 120 characters, and
`{names}` the first three of a list, `{names:such}` the first.
"""

import re
from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

from hfcount.text import plural, printable

_OPTIONAL = re.compile(r"\[(?:(\w+)\?)?([^\[\]]*)\]")
_NAME = 120  # characters of a tensor's name that a message repeats


def render(template: str, facts: Mapping[str, Any]) -> str:
    """The message of a finding.

    Args:
        facts: what the template calls by name; a fact that is None is not there.

    Raises:
        KeyError: a fact outside brackets is not there.
    """
    text = _OPTIONAL.sub(lambda found: _optional(found[1], found[2], facts), template).replace(":;", ":")
    return _FORMAT.vformat(text, (), facts)


def _optional(condition: str | None, text: str, facts: Mapping[str, Any]) -> str:
    if condition:
        return text if facts.get(condition) else ""
    return "" if any(name and facts.get(name) is None for _, name, _, _ in _FORMAT.parse(text)) else text


class _Format(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, str):
            return printable(value, int(format_spec)) if format_spec else printable(value)
        if isinstance(value, int):
            return _number(value, format_spec)
        return _list(value, format_spec)


_FORMAT = _Format()


def _number(value: int, noun: str) -> str:
    if noun == ",":
        return f"{value:,}"
    one, choice, several = noun.partition("|")
    return (one if value == 1 else several) if choice else plural(value, noun)


def _list(values: Sequence[Any], how: str) -> str:
    if how == "shape":
        return "×".join(map(str, values)) or "a scalar"
    if how == "such":
        return printable(values[0], _NAME)
    if how:
        return ", ".join(printable(value, int(how)) for value in values)
    shown = ", ".join(printable(value, _NAME) for value in values[:3])
    return shown + (f" and {plural(len(values) - 3, 'more row')}" if len(values) > 3 else "")
