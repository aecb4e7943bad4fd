"""Parses a settings file: known keys, values of the right type, and the line of what is wrong."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from difflib import get_close_matches
from typing import Any, NamedTuple, get_args

from hfcount.checkpoints.settings.lines import Lines
from hfcount.checkpoints.settings.paths import pattern
from hfcount.errors import SettingsError
from hfcount.fetcher.settings_file import PROJECT, SettingsFile
from hfcount.options import AskedDepth
from hfcount.text import printable, shown
from hfcount.verifier.loaders.catalogue import loader
from hfcount.verifier.rules import lookup
from hfcount.verifier.waivers import Waiver, compiled

PER_PATH = "per-path"
DEPTHS = tuple(depth for depth in get_args(AskedDepth) if depth != "config")
"""Depths that a file may ask for: a run that compares nothing has to be asked for on the command line."""


class Table(NamedTuple):
    """What one table sets; None for what it leaves open.

    Args:
        path: the pattern of the checkpoints that it is for; None for all.
        allow: its waivers.
        loaders: names of loaders whose verdict it is.
        base: a folder, a config.json or a repo, as it is written.
    """

    path: str | None = None
    allow: tuple[Waiver, ...] = ()
    loaders: tuple[str, ...] | None = None
    base: str | None = None
    strict: bool | None = None
    depth: AskedDepth | None = None


class _Wrong(Exception):
    """A key has a wrong value, or is unknown.

    Args:
        text: what is wrong, as the end of a sentence.
        table, waiver: the numbers of the table and of its waiver that it is in.
    """

    def __init__(self, key: str, text: str, table: int = 0, waiver: int | None = None) -> None:
        super().__init__(text)
        self.key, self.text, self.table, self.waiver = key, text, table, waiver


def tables(file: SettingsFile) -> list[Table]:
    """The tables of a file, the one for all checkpoints first.

    Raises:
        SettingsError: it is no TOML, or has an unknown key or a wrong value; the message says where.
    """
    try:
        document = tomllib.loads(file.raw.decode())
    except UnicodeDecodeError:
        raise SettingsError(f"{file.shown} is not UTF-8, which TOML has to be.") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file.shown} is not TOML: {printable(str(error))}.") from None
    except RecursionError:
        raise SettingsError(f"{file.shown} is nested too deeply.") from None
    lines = Lines(file)
    try:
        return list(_tables(_own(file, document), lines))
    except _Wrong as error:
        line = lines.of(error.key, error.table, error.waiver)
        raise SettingsError(f"{file.shown}{f':{line}' if line else ''}: {error.text}") from None


def _own(file: SettingsFile, document: Mapping[str, Any]) -> Any:
    """The table of hfcount; in pyproject.toml it is one of several."""
    if not file.path.endswith(PROJECT):
        return document
    tools = document.get("tool", {})
    return tools.get("hfcount", {}) if isinstance(tools, dict) else {}


def _tables(table: Any, lines: Lines) -> Iterator[Table]:
    values = _table("hfcount", table, (*_KEYS, PER_PATH))
    per_path = _rows(PER_PATH, values.get(PER_PATH, []))
    common = {key: value for key, value in values.items() if key != PER_PATH}
    for place, part in enumerate([common, *per_path]):
        try:
            yield _parsed(part, place, lines)
        except _Wrong as error:
            raise _Wrong(error.key, error.text, place, error.waiver) from None


def _parsed(part: dict[str, Any], place: int, lines: Lines) -> Table:
    """The table of that number: 0 is for all checkpoints, the others are of per-path."""
    if place:
        _table(PER_PATH, part, ("path", *_KEYS))
        if "path" not in part:
            raise _Wrong("", f"{PER_PATH} without path, the pattern of the checkpoints that it is for.")
    waivers = [_waiver(row, place, number, lines) for number, row in enumerate(_rows("allow", part.pop("allow", [])))]
    read = {_FIELDS.get(key, key): _KEYS[key](key, value) for key, value in part.items() if key != "path"}
    path = _path("path", part["path"]) if place else None
    return Table(path, tuple(waivers), **read)


def _table(name: str, value: Any, known: Sequence[str]) -> dict[str, Any]:
    """A table, all of whose keys are known."""
    if not isinstance(value, dict):
        raise _Wrong(name, f"{name} is {_shown(value)}, and must be a table.")
    for key in value:
        if key not in known:
            raise _Wrong(key, _unknown(key, name, known))
    return value


def _rows(name: str, value: Any) -> list[dict[str, Any]]:
    """A list of tables."""
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        such = '[{ code = "HF201", reason = "..." }]' if name == "allow" else f"[[{name}]]"
        raise _Wrong(name, f"{name} is {_shown(value)}, and must be a list of tables, such as {such}.")
    return [{**row} for row in value]


def _unknown(key: str, table: str, known: Sequence[str]) -> str:
    near = get_close_matches(key.lower().replace("_", "-"), known, 1, 0.6)
    meant = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(known)}."
    where = "a waiver" if table == "allow" else table
    return f"{printable(key, 60)} is no key of {where}. {meant}"


def _waiver(row: Mapping[str, Any], table: int, number: int, lines: Lines) -> Waiver:
    """One of `allow` of a table; `number` is its place among them."""
    try:
        values = _table("allow", row, [*_OF_WAIVERS])
        for key in ("code", "reason"):
            if key not in values:
                what = "the finding that it lets through" if key == "code" else "why it is let through"
                raise _Wrong("code", f"a waiver needs {key}, {what}.")
        read = {key: _OF_WAIVERS[key](key, value) for key, value in values.items()}
    except _Wrong as error:
        raise _Wrong(error.key, error.text, waiver=number) from None
    return Waiver(**read, line=lines.of_waiver(table, number))


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Wrong(key, f"{key} is {_shown(value)}, and must be a text that is not empty.")
    return value


def _flag(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Wrong(key, f"{key} is {_shown(value)}, and must be true or false.")
    return value


def _depth(key: str, value: Any) -> str:
    if value not in DEPTHS:
        more = ", which compares nothing and is for the command line alone" if value == "config" else ""
        raise _Wrong(key, f"{key} is {_shown(value)}{more}, and must be one of {', '.join(DEPTHS)}.")
    return str(value)


def _loaders(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise _Wrong(key, f'{key} is {_shown(value)}, and must be a list of loaders, such as ["vllm"].')
    for name in value:
        try:
            loader(_text(key, name))
        except ValueError as error:
            raise _Wrong(key, f"{key}: {error}") from None
    return tuple(value)


def _code(key: str, value: Any) -> str:
    rule = lookup(_text(key, value))
    if rule is None:
        raise _Wrong(key, f"{key} is {_shown(value)}, and no finding is called that. `hfcount rules` lists them.")
    return rule.code


def _day(key: str, value: Any) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise _Wrong(key, f"{key} is {_shown(value)}, and must be a day, such as 2027-01-31.") from None


def _path(key: str, value: Any) -> str:
    return _accepted_by(pattern, key, value)


def _tensor(key: str, value: Any) -> str:
    return _accepted_by(compiled, key, value)


def _accepted_by(grammar: Callable[[str], Any], key: str, value: Any) -> str:
    """A pattern that its grammar accepts."""
    text = _text(key, value)
    try:
        grammar(text)
    except ValueError as error:
        raise _Wrong(key, f"{key} is {_shown(value)}: {error}.") from None
    return text


def _shown(value: Any) -> str:
    return value.isoformat() if isinstance(value, date) else shown(value)


_KEYS: Mapping[str, Callable[[str, Any], Any]] = {
    "allow": _rows,
    "for": _loaders,
    "base": _text,
    "strict": _flag,
    "depth": _depth,
}
"""The keys of a table, and what reads each."""

_FIELDS = {"for": "loaders"}
"""Fields of a Table that are not called as their keys."""

_OF_WAIVERS: Mapping[str, Callable[[str, Any], Any]] = {
    "code": _code,
    "reason": _text,
    "path": _path,
    "tensor": _tensor,
    "until": _day,
}
"""The keys of a waiver, and what reads each."""
