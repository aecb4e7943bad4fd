"""Finds the line of a key in a JSON document, counted from 1, for annotations."""

import json
import re
from collections.abc import Iterator

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],]|[^\s"{}\[\],]+')
_MANY = 1_000_000  # tokens that are looked at
_LARGEST = 4 << 20  # bytes of a document that is parsed once more, to see where it breaks off


def line_of_key(raw: bytes, key: str) -> int | None:
    """The line of a key such as `text_config.layer_types[3]`, or of the nearest object or list that would hold it.

    None if not even the first part of the key is there.
    """
    position, longest = None, 0
    for path, start in _keys(raw, key):
        if longest < len(path) <= len(key) and _leads(path, key):
            position, longest = start, len(path)
        if longest == len(key):
            break
    return None if position is None else _line(raw, position)


def line_of_name(raw: bytes, name: str) -> int | None:
    """The line of the first entry of that name, in whichever object; None if there is none."""
    entry = re.search(re.escape(json.dumps(name).encode()) + rb"\s*:", raw)
    return _line(raw, entry.start()) if entry else None


def line_of_text(raw: bytes, text: str) -> int | None:
    """The line of the first string that is this text; None if there is none."""
    start = raw.find(json.dumps(text).encode())
    return None if start < 0 else _line(raw, start)


def line_of_error(raw: bytes) -> int | None:
    """The line where a document stops being JSON; None if it is JSON, or too large to be parsed once more."""
    if len(raw) > _LARGEST:
        return None
    try:
        json.loads(raw.decode("utf-8", errors="replace"))
    except json.JSONDecodeError as error:
        return error.lineno
    except (ValueError, RecursionError):
        pass
    return None


def _line(raw: bytes, place: int) -> int:
    return raw.count(b"\n", 0, place) + 1


def _leads(path: str, key: str) -> bool:
    """Whether a path is that of a key, or of an object or a list around it."""
    return not path or f"{key}.".startswith((f"{path}.", f"{path}["))


class _Level:
    """An object or a list that is being read: its own path, and the key or the number that is read of it.

    Its path is None where it does not lead to the key that is looked for.
    """

    def __init__(self, path: str | None, is_list: bool) -> None:
        self.path, self.is_list = path, is_list
        self.key: str | None = None
        self.number = 0

    @property
    def inner(self) -> str:
        """The path of what is read of it."""
        if self.is_list:
            return f"{self.path}[{self.number}]"
        return f"{self.path}.{self.key}" if self.path else str(self.key)

    def next(self) -> None:
        """What follows a comma."""
        self.key, self.number = None, self.number + 1


def _keys(raw: bytes, wanted: str) -> Iterator[tuple[str, int]]:
    """The path of each key of an object and of each element of a list, in their order, and where it begins.

    What lies in other objects and lists than those around the wanted key is passed over.
    """
    levels: list[_Level] = []
    for _, token in zip(range(_MANY), _TOKEN.finditer(raw), strict=False):
        sign, level = token[0][:1], levels[-1] if levels else None
        if level and sign not in b"}]," and (level.is_list or level.key is None):
            level.key = "" if level.is_list or level.path is None else _text(token[0])
            if level.path is not None:
                yield level.inner, token.start()
        if sign in b"{[":
            within = level is None or (level.path is not None and _leads(level.inner, wanted))
            levels.append(_Level((level.inner if level else "") if within else None, sign == b"["))
        elif sign in b"}]" and levels:
            levels.pop()
        elif sign == b"," and level:
            level.next()


def _text(token: bytes) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token.decode("utf-8", errors="replace")
