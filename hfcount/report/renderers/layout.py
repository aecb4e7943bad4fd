"""Lays out text, tables and bars in lines of a terminal's width.

A library for terminals costs more to import than a whole verification does; this is what reports need of one. Widths
are in columns: a wide character, such as a Chinese one, takes two.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Literal, NamedTuple

Align = Literal["left", "right"]

_CODES = {"bold": 1, "dim": 2, "underline": 4, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
BLOCKS = " ▏▎▍▌▋▊▉█"
"""What bars are drawn with, by eighths of a column."""


class Span(NamedTuple):
    """A piece of a line; its style is words such as `bold red`."""

    text: str
    style: str = ""

    def coloured(self) -> str:
        """The text between the control sequences of its style."""
        codes = ";".join(str(_CODES[word]) for word in self.style.split())
        return f"\x1b[{codes}m{self.text}\x1b[0m" if codes and self.text else self.text


Line = Sequence[Span]


class Block(ABC):
    """Something that takes whole lines."""

    @abstractmethod
    def lines(self, width: int) -> Iterator[Line]:
        """Its lines, none wider than that if it can be helped."""

    @abstractmethod
    def widest(self) -> int:
        """The width of its longest line where there is room for all."""

    def longest_word(self) -> int:
        """The least width in which no word is cut."""
        return self.widest()


class Text(Block):
    """Text in one style, or in spans; it wraps between words, and within those that are too long.

    Args:
        hanging: by how many columns the rest of a line that wraps is indented.
    """

    def __init__(self, text: str = "", style: str = "", hanging: int = 0) -> None:
        self._spans: Line = (Span(text, style),)
        self._hanging = hanging

    @classmethod
    def of(cls, *parts: "str | tuple[str, str] | Text", style: str = "") -> "Text":
        """Text of several parts: strings, those with a style of their own, and other texts."""
        made = cls()
        spans = list[Span]()
        for part in parts:
            spans += part._spans if isinstance(part, Text) else [Span(part) if isinstance(part, str) else Span(*part)]
        made._spans = [Span(span.text, f"{style} {span.style}".strip()) for span in spans]
        return made

    def lines(self, width: int) -> Iterator[Line]:
        """The lines, wrapped."""
        whole = "".join(span.text for span in self._spans)
        place = 0
        for line in whole.split("\n"):
            for start, end in _wrapped(line, width, self._hanging):
                rest = self._cut(place + start, place + end)
                yield (Span(" " * self._hanging), *rest) if start and self._hanging else rest
            place += len(line) + 1

    def widest(self) -> int:
        """The width of the longest line before it is wrapped."""
        return max(map(breadth, "".join(span.text for span in self._spans).split("\n")))

    def longest_word(self) -> int:
        """The width of the longest word."""
        return max(map(breadth, "".join(span.text for span in self._spans).split()), default=0)

    def _cut(self, start: int, end: int) -> Line:
        if len(self._spans) == 1:
            return (Span(self._spans[0].text[start:end], self._spans[0].style),)
        cut, place = list[Span](), 0
        for span in self._spans:
            if part := span.text[max(start - place, 0) : max(end - place, 0)]:
                cut.append(Span(part, span.style))
            place += len(span.text)
        return cut


class Bar(Block):
    """The part of a whole as a bar of `width` columns, in eighths of a column."""

    def __init__(self, part: int, whole: int, width: int) -> None:
        self._eighths = 8 * width * part // whole if whole else 0
        self._width = width

    def lines(self, width: int) -> Iterator[Line]:
        """The one line."""
        full, rest = divmod(self._eighths, 8)
        yield (Span(BLOCKS[8] * full + BLOCKS[rest].strip()),)

    def widest(self) -> int:
        """The width of a whole bar."""
        return self._width


class Indented(Block):
    """A block that begins some columns to the right."""

    def __init__(self, block: Block, indent: int) -> None:
        self._block, self._indent = block, indent

    def lines(self, width: int) -> Iterator[Line]:
        """The lines of the block, with blanks before them."""
        for line in self._block.lines(max(width - self._indent, 1)):
            yield (Span(" " * self._indent), *line)

    def widest(self) -> int:
        """The width of the block and the blanks before it."""
        return self._indent + self._block.widest()


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        head: its heading, which stands at the bottom of the heading's lines.
        wraps: whether it gets narrower where the table is too wide, down to `least` columns and not to none.
        low: whether short cells stand at the bottom of their row.
        width: its width whatever it holds; None for that of its widest cell.
    """

    head: str = ""
    align: Align = "left"
    wraps: bool = True
    least: int = 0
    low: bool = False
    width: int | None = None


class Table(Block):
    """Rows in columns that are two blanks apart, without lines; headings are dimmed, empty columns left out."""

    def __init__(self, columns: Sequence[Column], heads: bool = True, gap: int = 2) -> None:
        self._columns = list(columns)
        self._gap = gap
        self._rows: list[Sequence[Block]] = []
        self._heads = [Text(column.head, "dim") for column in columns] if heads else None

    def add(self, *cells: "str | Block", style: str = "") -> None:
        """Adds a row; the style is that of cells that are strings."""
        self._rows.append([Text(cell, style) if isinstance(cell, str) else cell for cell in cells])

    def widest(self) -> int:
        """The width where no cell wraps."""
        widths = [*filter(None, self._widths(1 << 30))]
        return sum(widths) + self._gap * (len(widths) - 1)

    def lines(self, width: int) -> Iterator[Line]:
        """The heading's lines, then those of the rows."""
        widths = self._widths(width)
        if self._heads:
            yield from self._row(self._heads, widths, [True] * len(widths))
        for row in self._rows:
            yield from self._row(row, widths, [column.low for column in self._columns])

    def _widths(self, width: int) -> list[int]:
        """The width of each column: the widest of those that wrap give way first, and no word is cut but at last."""
        rows = [*([self._heads] if self._heads else []), *self._rows]
        sizes = [
            max([column.least, *(row[place].widest() for row in rows)]) if column.width is None else column.width
            for place, column in enumerate(self._columns)
        ]
        excess = sum(sizes) + self._gap * (sum(map(bool, sizes)) - 1) - width
        wrapping = [place for place, column in enumerate(self._columns) if column.wraps]
        for whole_words in (True, False) if excess > 0 else ():
            words = {place: max(row[place].longest_word() for row in rows) if whole_words else 1 for place in wrapping}
            least = {place: max(size, self._columns[place].least) for place, size in words.items()}
            while excess > 0 and (wide := [place for place in wrapping if sizes[place] > least[place]]):
                sizes[max(wide, key=sizes.__getitem__)] -= 1
                excess -= 1
        return sizes

    def _row(self, cells: Sequence[Block], widths: Sequence[int], low: Sequence[bool]) -> Iterator[Line]:
        wrapped = [[*cell.lines(width)] for cell, width in zip(cells, widths, strict=True)]
        height = max(map(len, wrapped))
        for place, lines in enumerate(wrapped):
            if low[place]:
                wrapped[place] = [*([()] * (height - len(lines))), *lines]
        for line in zip_longest(*wrapped, fillvalue=()):
            spans = list[Span]()
            for column, width, cell in zip(self._columns, widths, line, strict=True):
                if not width:
                    continue
                blanks = Span(" " * max(width - sum(breadth(span.text) for span in cell), 0))
                spans += (blanks, *cell) if column.align == "right" else (*cell, blanks)
                spans.append(Span(" " * self._gap))
            yield spans


def breadth(text: str) -> int:
    """How many columns a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width  # few texts need it

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "FW" else 1 for char in text)


_WORD = re.compile(r"\s*\S+\s*")


def _wrapped(line: str, width: int, hanging: int) -> Iterator[tuple[int, int]]:
    """Where each part of a line begins and ends that fits the width, without the blanks where it wraps.

    All parts but the first are narrower by `hanging` columns.
    """
    if breadth(line) <= width:
        yield 0, len(line)
        return
    start, end, narrower = 0, 0, max(width - hanging, 1)
    for match in _WORD.finditer(line):
        word_end = match.start() + len(match[0].rstrip())
        if breadth(line[start:word_end]) > width:
            if end:
                yield start, end
                width = narrower
            start = match.start()
            while breadth(line[start:word_end]) > width and word_end - start > 1:
                cut = _prefix(line[start:word_end], width)
                yield start, start + cut
                start, width = start + cut, narrower
        end = word_end
    yield start, max(start, end)


def _prefix(text: str, width: int) -> int:
    """How many characters of a text fit the width, at least one."""
    if text.isascii():
        return max(width, 1)
    taken = 0
    for place, char in enumerate(text):
        taken += breadth(char)
        if taken > width:
            return max(place, 1)
    return len(text)
