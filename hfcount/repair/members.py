"""Edits JSON text in place; the rest stays byte for byte."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


class Member(NamedTuple):
    """A key with its value: offsets of the key's start and the value's start and end."""

    key: str
    begin: int
    value: int
    end: int


class _Object(NamedTuple):
    begin: int
    members: list[Member]


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """Sets a value, or adds it in sorted position, or last if keys are unsorted.

    Raises:
        KeyError: an object on the path is missing.
    """
    around = _at(text, path[:-1])
    for member in around.members:
        if member.key == path[-1]:
            flat = "\n" not in text[member.value : member.end]
            return text[: member.value] + _written(text, member.begin, value, flat) + text[member.end :]
    return _with_member(text, around, path[-1], value)


def without(text: str, path: Sequence[str]) -> str:
    """Removes a key.

    Raises:
        KeyError: it is missing.
    """
    begin, members = _at(text, path[:-1])
    place = next((place for place, member in enumerate(members) if member.key == path[-1]), None)
    if place is None:
        raise KeyError(path[-1])
    removed = members[place]
    if len(members) == 1:
        return text[: begin + 1] + text[_skip(text, removed.end) :]
    if place == len(members) - 1:
        return text[: members[place - 1].end] + text[removed.end :]
    return text[: removed.begin] + text[members[place + 1].begin :]


def with_keys(text: str, path: Sequence[str], names: Mapping[str, str]) -> str:
    """Renames keys of the object at a path.

    Raises:
        KeyError: an object that the path leads through is not there.
    """
    parts, place = list[str](), 0
    for member in _at(text, path).members:
        if member.key in names:
            parts += [text[place : member.begin], json.dumps(names[member.key], ensure_ascii=False)]
            _, place = _DECODER.raw_decode(text, member.begin)
    return "".join([*parts, text[place:]])


def step_of(text: str) -> str | None:
    """The indentation of the outermost object; None if on one line."""
    begin, members = _at(text, ())
    before = text[begin + 1 : members[0].begin] if members else ""
    return before.rpartition("\n")[2] if "\n" in before else None


def _at(text: str, path: Sequence[str]) -> _Object:
    begin = _skip(text, 0)
    for step in path:
        begin = next((member.value for member in _members(text, begin) if member.key == step), -1)
        if begin < 0 or text[begin] != "{":
            raise KeyError(step)
    return _Object(begin, _members(text, begin))


def _members(text: str, begin: int) -> list[Member]:
    members = []
    place = _skip(text, begin + 1)
    while text[place] != "}":
        key, end = _DECODER.raw_decode(text, place)
        value = _skip(text, _skip(text, end) + 1)
        _, end = _DECODER.raw_decode(text, value)
        members.append(Member(key, place, value, end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return members


def _skip(text: str, place: int) -> int:
    """The offset of the next character that is not white space."""
    space = _SPACE.match(text, place)
    return space.end() if space else place


def _written(text: str, begin: int, value: Any, flat: bool) -> str:
    """A serialized value, on one line or indented like the text."""
    step = step_of(text)
    if flat or step is None or not isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    margin = text[text.rfind("\n", 0, begin) + 1 : begin]
    return json.dumps(value, ensure_ascii=False, indent=step).replace("\n", f"\n{margin}")


def _with_member(text: str, around: _Object, key: str, value: Any) -> str:
    begin, members = around
    member_text = json.dumps(key, ensure_ascii=False)
    if not members:
        line = text[text.rfind("\n", 0, begin) + 1 : begin]
        margin, step = line[: len(line) - len(line.lstrip())], step_of(text)
        before, after = ("", "") if step is None else (f"\n{margin}{step}", f"\n{margin}")
        member_text = f"{before}{member_text}: {json.dumps(value, ensure_ascii=False)}{after}"
        return f"{text[: begin + 1]}{member_text}{text[_skip(text, begin + 1) :]}"
    first, last = members[0], members[-1]
    member_text += text[_DECODER.raw_decode(text, first.begin)[1] : first.value]  # the colon, with the space around it
    member_text += _written(text, first.begin, value, False)
    gap = text[text.index(",", first.end) + 1 : members[1].begin] if len(members) > 1 else text[begin + 1 : first.begin]
    keys = [member.key for member in members]
    later = next((member for member in members if member.key > key), None) if keys == sorted(keys) else None
    if later:
        return f"{text[: later.begin]}{member_text},{gap}{text[later.begin :]}"
    return f"{text[: last.end]},{gap}{member_text}{text[last.end :]}"
