"""Renders a diff for the terminal."""

from collections.abc import Iterator, Sequence

from hfcount.diffing.model import Diff
from hfcount.diffing.pieces import ConfigKey, Side, TensorPair
from hfcount.diffing.text import (
    ARROW,
    EFFECTS,
    OTHERS,
    TITLES,
    differences,
    expected,
    is_apart,
    lists,
    named,
    other_rows,
    side_line,
    value,
    value_line,
)
from hfcount.report.renderers.layout import Block, Column, Indented, Table, Text
from hfcount.report.renderers.terminal import printed, terminal, without_colours
from hfcount.text import plural, printable

_ROWS = 12
_NARROW = 70  # columns up to which keys and values keep their widths
_INDENT = 2
_GAP = 2


def render(diff: Diff) -> str:
    """The text in the terminal's width and colours."""
    to = terminal()
    return printed(to, _parts(diff, to.width))


def as_text(diff: Diff) -> str:
    """The same without colours."""
    to = without_colours()
    return printed(to, _parts(diff, to.width))


def _parts(diff: Diff, width: int) -> Iterator[Block]:
    yield _side("A", diff.a)
    yield _side("B", diff.b)
    colour = {0: "green", 1: "red", 3: "yellow"}[diff.exit_code]
    yield Text(f"{diff.summary}.", f"bold {colour}")
    if diff.expectation:
        yield Text(expected(diff.expectation))
    for name, side in (("A", diff.a), ("B", diff.b)):
        if side.error:
            yield Text(f"{name}: {side.error.message}", "yellow")
    for section in _sections(diff, width - 2 * _INDENT):
        yield Text()
        yield from section
    for name, part in (diff.parts or {}).items():
        sections = [*_sections(part, width - 2 * _INDENT)] if is_apart(part) else []
        for number, section in enumerate(sections):
            yield Text()
            yield from () if number else [Text(f"In {printable(name)}", "bold underline")]
            yield from section
    for note in diff.notes:
        yield Text(note, "dim")


def _side(name: str, side: Side) -> Block:
    row = Table([Column(wraps=False), Column()], heads=False, gap=1)
    row.add(Text(name, "dim"), Text.of((side.model, "bold"), f"  {side_line(side)}"))
    return row


def _sections(diff: Diff, width: int) -> Iterator[list[Block]]:
    for effect, title in EFFECTS.items():
        rows = [row for row in diff.config if row.effect == effect]
        if rows:
            yield [Text(title, "bold"), *_keys(rows)]
    for title, pairs in lists(diff):
        yield [*_pairs(title, pairs, width)]
    for name, title in TITLES.items() if diff.files else ():
        if files := getattr(diff.files, name):
            yield [Text(title, "bold"), *_listed(files)]
    if diff.values and diff.values.components:
        values = [value_line(row) for row in diff.values.components]
        yield [Text("Values, by component", "bold"), *_listed(values)]
        if others := other_rows(diff.values):
            yield [Text(OTHERS, "bold"), *_listed(others)]


def _keys(rows: Sequence[ConfigKey]) -> Iterator[Block]:
    """Keys and values in columns; below those that change the same tensors, their names."""
    groups: dict[tuple[str, ...], list[ConfigKey]] = {}
    for row in rows[:_ROWS]:
        groups.setdefault((*row.tensors, row.readers or ""), []).append(row)
    cells = [(row.key, value(row, "a"), value(row, "b")) for row in rows[:_ROWS]]
    head = "key", "A", "B"
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    for number, ((*tensors, readers), group) in enumerate(groups.items()):
        fixed: list[int | None] = [*widths] if sum(widths) < _NARROW else [None] * len(widths)
        columns = [Column(name, width=width) for name, width in zip(head, fixed, strict=True)]
        table = Table(columns, heads=not number, gap=_GAP)
        for row in group:
            table.add(row.key, value(row, "a"), value(row, "b"))
        yield _indented(table)
        for text in (*named(tensors), readers):
            if text:
                yield _indented(Text(text, "dim"), 2)
    yield from _rest(len(rows), "more key")


def _pairs(title: str, pairs: Sequence[TensorPair], width: int) -> Iterator[Block]:
    """Names and shapes in columns, by their dtypes."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for pair in pairs[:_ROWS]:
        names, shapes, dtypes = differences(pair)
        groups.setdefault(dtypes, []).append((names, shapes))
    only = next(iter(groups)) if len(groups) == 1 else ""
    count = plural(sum(pair.count for pair in pairs), "tensor")
    yield Text(f"{title} ({', '.join(filter(None, (count, only)))})", "bold")
    for dtypes, rows in groups.items():
        if len(groups) > 1:
            yield _indented(Text(dtypes or "of unknown dtype"))
        yield from (_indented(line, 1 if only else 2) for line in _columns(rows, width))
    yield from _rest(len(pairs), "more row")


def _columns(rows: Sequence[tuple[str, str]], width: int) -> Iterator[Block]:
    """Names beside shapes, or each on its own line if too wide."""
    longest, shape = (max(map(len, column)) for column in zip(*rows, strict=True))
    if longest + _GAP + shape > width:
        for names, shapes in rows:
            first, *other = names.split(ARROW)
            yield Text(first)
            below = [f"{ARROW.lstrip()}{name}" for name in other]
            yield _indented(Text("  ".join((*below, shapes)), "dim"))
    else:
        table = Table([Column(), Column()], heads=False, gap=_GAP)
        for row in rows:
            table.add(*row)
        yield table


def _listed(rows: Sequence[str]) -> Iterator[Block]:
    yield from (_indented(Text(row)) for row in rows[:_ROWS])
    yield from _rest(len(rows), "more row")


def _rest(count: int, what: str) -> Iterator[Block]:
    if count > _ROWS:
        yield _indented(Text(f"and {plural(count - _ROWS, what)} (--json lists them)", "dim"))


def _indented(what: Block, steps: int = 1) -> Block:
    return Indented(what, steps * _INDENT)
