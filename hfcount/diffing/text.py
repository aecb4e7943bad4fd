"""What differs, as the terminal shows it."""

from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hfcount.diffing.model import Diff
from hfcount.diffing.pieces import ConfigKey, Effect, Expectation, Held, Side, TensorPair, ValueRow
from hfcount.reporters.terminal import printed, terminal
from hfcount.text import binary, plural, printable, shown

_ROWS = 12
_NAMES = 3

EFFECTS: dict[Effect, str] = {
    "tensors": "Config keys that change tensors",
    "storage": "Config keys about how tensors are stored",
    "reading": "Config keys that change what is computed or read",
    "unknown": "Config keys of which it is not known what they change",
    "training": "Config keys that change training alone",
    "none": "Config keys that change nothing",
}

TITLES = {"differing": "Files that differ", "only_a": "Files only in A", "only_b": "Files only in B"}
"""Of lists of files, by the field."""


def render(diff: Diff) -> str:
    """The text in the terminal's width and colours."""
    return printed(terminal(), _parts(diff))


def as_text(diff: Diff) -> str:
    """The same without colours."""
    return printed(Console(highlight=False, file=StringIO(), color_system=None), _parts(diff))


def _parts(diff: Diff) -> Iterator[RenderableType]:
    yield Text.assemble(("A ", "dim"), (diff.a.model, "bold"), f"  {_side(diff.a)}")
    yield Text.assemble(("B ", "dim"), (diff.b.model, "bold"), f"  {_side(diff.b)}")
    colour = {0: "green", 1: "red", 3: "yellow"}[diff.exit_code]
    yield Text(f"{diff.summary}.", f"bold {colour}")
    if diff.expectation:
        yield Text(expected(diff.expectation))
    for name, side in (("A", diff.a), ("B", diff.b)):
        if side.error:
            yield Text(f"{name}: {side.error.message}", "yellow")
    for section in _sections(diff):
        yield Text()
        yield from section
    for note in diff.notes:
        yield Text(note, "dim")


def _side(side: Side) -> str:
    facts = [
        side.architecture or side.family or "",
        f"{side.parameters:,} parameters" if side.parameters else "",
        plural(side.tensors, "tensor") if side.tensors else "",
        binary(side.bytes) if side.bytes else "",
        side.packing or "/".join(side.dtypes or ()),
        side.verdict or "",
    ]
    return ", ".join(filter(None, facts))


FACTS: dict[str, Callable[[Side], str]] = {
    "model": lambda side: side.model,
    "commit": lambda side: side.revision or "",
    "class": lambda side: side.architecture or side.family or "",
    "parameters": lambda side: f"{side.parameters:,}" if side.parameters else "",
    "tensors": lambda side: f"{side.tensors:,}" if side.tensors else "",
    "bytes": lambda side: binary(side.bytes) if side.bytes else "",
    "dtypes": lambda side: side.packing or ", ".join(side.dtypes or ()),
    "container": lambda side: side.container or "",
    "verdict": lambda side: side.verdict or "",
    "findings": lambda side: ", ".join(side.findings),
    "not looked at": lambda side: side.error.message if side.error else "",
}
"""What is known of a side, and how it is written."""


def side_facts(diff: Diff) -> Iterator[tuple[str, str, str]]:
    """What is known of both sides, row by row: what it is, of A and of B."""
    for name, written in FACTS.items():
        one, other = written(diff.a), written(diff.b)
        if one or other:
            yield name, one, other


def expected(wanted: Expectation) -> str:
    """Whether what was expected holds."""
    word = {True: "holds", False: "does not hold", None: "cannot be told"}[wanted.met]
    return f"Expected {wanted.expected}: it {word}: {wanted.reason}."


def _sections(diff: Diff) -> Iterator[list[RenderableType]]:
    for effect, title in EFFECTS.items():
        rows = [row for row in diff.config if row.effect == effect]
        if rows:
            yield [Text(title, "bold"), *_keys(rows)]
    for title, pairs in lists(diff):
        count = sum(pair.count for pair in pairs)
        yield [Text(f"{title} ({plural(count, 'tensor')})", "bold"), *_listed([line(pair) for pair in pairs])]
    for name, title in TITLES.items() if diff.files else ():
        if files := getattr(diff.files, name):
            yield [Text(title, "bold"), *_listed(files)]
    if diff.values and diff.values.components:
        values = [value_line(row) for row in diff.values.components]
        yield [Text("Values, by component", "bold"), *_listed(values)]


def lists(diff: Diff) -> Iterator[tuple[str, Sequence[TensorPair]]]:
    """The lists of tensors that are not empty, with their titles."""
    tensors = diff.tensors
    if tensors is None:
        return
    found = (
        ("Only in A", tensors.only_a),
        ("Only in B", tensors.only_b),
        ("Other shapes", tensors.shapes),
        ("Other dtypes", tensors.dtypes),
        ("The same, written otherwise", tensors.renamed),
    )
    yield from ((title, pairs) for title, pairs in found if pairs)


def _keys(rows: Sequence[ConfigKey]) -> Iterator[RenderableType]:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for head in ("key", "A", "B", ""):
        table.add_column(head, overflow="fold")
    for row in rows[:_ROWS]:
        key, a, b, names = key_row(row)
        table.add_row(Text(key), Text(a), Text(b), Text(names, "dim"))
    yield Padding(table, (0, 0, 0, 2))
    if len(rows) > _ROWS:
        yield Text(f"  ... and {len(rows) - _ROWS} more keys (--json lists them)", "dim")


def key_row(row: ConfigKey) -> tuple[str, str, str, str]:
    """A key, its two values, and the tensors that it changes."""
    names = ", ".join(row.tensors[:_NAMES])
    more = f" and {len(row.tensors) - _NAMES} more rows" if len(row.tensors) > _NAMES else ""
    readers = row.readers if not names else f"; {row.readers}" if row.readers else ""
    return row.key, _value(row, "a"), _value(row, "b"), f"{names}{more}{readers or ''}"


def _value(row: ConfigKey, side: str) -> str:
    value: Any = getattr(row, side)
    if row.absent == side:
        return "absent" if value is None else f"{brief(value)} (by default)"
    return brief(value)


def brief(value: Any) -> str:
    """A value of a config in a few words."""
    if isinstance(value, list) and len(value) <= 4 and not any(isinstance(one, list | dict) for one in value):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    if isinstance(value, dict) and len(value) <= 4 and not any(isinstance(one, list | dict) for one in value.values()):
        return ", ".join(f"{printable(name, 60)} {shown(one)}" for name, one in value.items())
    return shown(value)


def _listed(rows: Sequence[str]) -> Iterator[RenderableType]:
    for row in rows[:_ROWS]:
        yield Padding(Text(row), (0, 0, 0, 2))
    if len(rows) > _ROWS:
        yield Text(f"  ... and {len(rows) - _ROWS} more rows (--json lists them)", "dim")


def line(pair: TensorPair) -> str:
    """One row: the names, and how each side has them."""
    a, b = pair.a, pair.b
    if a is None or b is None:
        there = a or b
        return f"{there.name}  {facts(there)}" if there else pair.name
    name = a.name if a.name == b.name else f"{a.name}  ->  {b.name}"
    if facts(a) == facts(b):
        return name if a.name != b.name else f"{name}  {facts(a)}"
    return f"{name}  {facts(a)}  ->  {facts(b)}"


def facts(held: Held) -> str:
    """Shape and dtype."""
    return f"{list(held.shape)} {held.dtype or ''}".rstrip()


def value_line(row: ValueRow) -> str:
    """How the values of some tensors compare."""
    if not row.differing:
        return f"{row.name}: {plural(row.tensors, 'tensor')}, identical"
    said = f"{row.name}: {row.differing:,} of {plural(row.tensors, 'tensor')} differ"
    if row.share is None or row.rms is None or row.largest is None:
        return said
    relative = f", {row.relative:.2%} of A's" if row.relative is not None else ""
    size = f"by {row.rms:.3g} (root mean square{relative}), at most {row.largest:.3g}"
    return f"{said}, in {row.share:.2%} of their elements, {size}"
