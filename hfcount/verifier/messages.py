"""Messages of findings: a rule has a template, which is filled in with the facts of a finding.

A template is a format string. `[...]` is left out unless all its facts are given, `[fact?...]` unless that one is true.
A leading `;` is dropped directly after `:`, so optional parts form a list. `{count:tensor}` is `2 tensors`,
`{count:is|are}` a word in singular or plural, `{shape:shape}` `12×24`, `{name:120}` a text cut to 120 characters,
`{names}` the first three of a list, and `{names:such}` the first.
"""

import re
from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

from hfcount.text import plural, printable

_OPTIONAL = re.compile(r"\[(?:(\w+)\?)?([^\[\]]*)\]")
_NAME = 120  # characters of a tensor's name that a message repeats


def render(template: str, facts: Mapping[str, Any]) -> str:
    """The message of a finding; a fact that is None counts as not given.

    Raises:
        KeyError: a fact outside brackets is not given.
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
