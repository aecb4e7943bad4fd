"""Splits tables of numbers into as few parts as the terminal's width allows."""

from collections.abc import Iterator, Mapping, Sequence

from hfcount.report.renderers.layout import Align, Block, Column, Table, Text

COLOURS = {
    "verified": "green",
    "explained": "green",
    "allowed": "yellow",
    "mismatch": "red",
    "unverified": "yellow",
    "counted": "cyan",
}
"""The colours of verdicts, and of what was only counted."""

_WORDS = ("verdict", "findings")
_TEXT = 24  # least width of text next to numbers


def narrow(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether number columns leave too little width for text."""
    return sum(max(map(len, column)) + 2 for column in zip(*rows, strict=True)) + _TEXT > width


def apart(head: Sequence[str], rows: Sequence[Sequence[str]], group: range, width: int) -> Iterator[Block]:
    """Columns of numbers in as few tables as the width allows, each with the first column, which alone may fold."""
    label = min(max(len(row[0]) for row in rows), max(width // 3, 12))
    for columns in fitting(head, rows, group, width - label - 2):
        taken = sum(_needed(head, rows, column) for column in columns)
        numbers = [_column(head, rows, column, width) for column in columns]
        table = Table([Column(head[0], least=min(label, 12)), *numbers])
        for row in rows:
            name = folded(row[0], max(width - taken, 12))
            table.add(name, *(Text(row[column], COLOURS.get(row[column], "")) for column in columns))
        yield table


def _column(head: Sequence[str], rows: Sequence[Sequence[str]], column: int, width: int) -> Column:
    align: Align = "left" if head[column] in _WORDS else "right"
    widest = min(max(len(row[column]) for row in rows), width - 14)
    return Column(head[column].replace(", ", "\n"), align, least=widest, low=True)


def fitting(head: Sequence[str], rows: Sequence[Sequence[str]], group: range, width: int) -> list[range]:
    """The columns of a group, in as few tables as the width allows, of about equal width."""
    needed = {column: _needed(head, rows, column) for column in group}
    fewest = len(_split(needed, width))
    ways = (_split(needed, room) for room in range(width + 1))
    return next((way for way in ways if len(way) == fewest), _split(needed, width))


def _needed(head: Sequence[str], rows: Sequence[Sequence[str]], column: int) -> int:
    """How wide a column is, with the blanks before the next."""
    return max(*(len(row[column]) for row in rows), *map(len, head[column].split(", "))) + 2


def folded(name: str, width: int) -> str:
    """A name in lines of that width, which end with a folder's or word's name, or else at a mark within one."""
    if len(name) <= width:
        return name
    at_word, part = (1 + max(map(name[:width].rfind, marks)) for marks in ("/ ", "-_.=,"))
    end = (at_word if 2 * at_word > width else max(at_word, part)) or width
    return f"{name[:end]}\n{folded(name[end:], width)}"


def _split(needed: Mapping[int, int], width: int) -> list[range]:
    parts, taken = list[range](), 0
    for column, size in needed.items():
        if parts and taken + size <= width:
            parts[-1] = range(parts[-1].start, column + 1)
            taken += size
        else:
            parts.append(range(column, column + 1))
            taken = size
    return parts
