"""Finds the lines of keys and waivers in a settings file."""

import re
import tomllib
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from hfcount.fetcher.settings_file import PROJECT, SettingsFile

_HEADER = re.compile(r"""\s*\[{1,2}[^\[\]]+\]{1,2}\s*(?:#.*)?""")
_KEY = re.compile(r"""(?a)(?<![\w-])([\w-]+)(["']?[ \t]*=)""")
_MARKED = re.compile(r"(?s)(.*)--(\d+)")

_Rows = dict[str, tuple[int | None, Any]]
"""Line and value of each key of a table; the header of the table has the key ''."""


class Lines:
    """The lines of the tables of hfcount in a file, which is valid TOML.

    The text is parsed once more with the number of its line at the end of each key, so that a line is that of the very
    key which a parser sees there, and not of one in a text or a comment.
    """

    def __init__(self, file: SettingsFile) -> None:
        self._file = file

    def of(self, key: str, table: int = 0, waiver: int | None = None) -> int | None:
        """The line of a key; None if it is not clear.

        Args:
            table: the number of its table: 0 for all checkpoints, then those of per-path.
            waiver: the number of the waiver of that table that it is in.
        """
        if waiver is not None:
            rows = self._waivers(table)
            line, _ = rows[waiver].get(key, (None, None)) if waiver < len(rows) else (None, None)
            return line or self.of_waiver(table, waiver)
        if table >= len(self._tables):
            return None
        line, value = self._tables[table].get(key, (None, None))
        return line or _start(value) or (_start_of(self._tables[table]) if table else None)

    def of_waiver(self, table: int, number: int) -> int | None:
        """The line of the code of a waiver, or where it has none that of its header or first key."""
        rows = self._waivers(table)
        if number >= len(rows):
            return None
        line, _ = rows[number].get("code", (None, None))
        return line or _start_of(rows[number])

    def _waivers(self, table: int) -> list[_Rows]:
        return _lists(self._tables[table], "allow") if table < len(self._tables) else []

    @cached_property
    def _tables(self) -> list[_Rows]:
        """The table for all checkpoints, then those of per-path; none if the marked text is no TOML."""
        try:
            document = tomllib.loads(_with_lines(self._file.raw.decode()))
        except (tomllib.TOMLDecodeError, RecursionError):  # such as a list with a line that looks like a header
            return []
        rows = _rows(document)
        for name in ("tool", "hfcount") if self._file.path.endswith(PROJECT) else ():
            _, value = rows.get(name, (None, None))
            rows = _rows(value)
        return [rows, *_lists(rows, "per-path")]


def _with_lines(text: str) -> str:
    """A text of TOML with `--LINE` at the end of each key, and with a key `--LINE` below each header."""
    marked = []
    for number, line in enumerate(text.split("\n"), 1):
        marked.append(_KEY.sub(rf"\g<1>--{number}\g<2>", line))
        if _HEADER.fullmatch(line):
            marked.append(f"--{number} = 0")
    return "\n".join(marked)


def _rows(value: Any) -> _Rows:
    """The keys of a marked table; none if it is no table."""
    rows: _Rows = {}
    for key, content in value.items() if isinstance(value, Mapping) else ():
        marked = _MARKED.fullmatch(key)
        rows[marked[1] if marked else key] = (int(marked[2]) if marked else None, content)
    return rows


def _lists(rows: _Rows, key: str) -> list[_Rows]:
    """The tables of a list of tables; none if it is something else."""
    _, value = rows.get(key, (None, None))
    return [_rows(row) for row in value] if isinstance(value, list) else []


def _start(value: Any) -> int | None:
    """The line at which a table, or the first table of a list, begins."""
    return _start_of(_rows(value[0] if isinstance(value, list) and value else value))


def _start_of(rows: _Rows) -> int | None:
    lines = [line for line, _ in rows.values() if line]
    return min(lines, default=None)
