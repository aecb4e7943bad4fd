"""Texts of a diff that all its renderers share."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hfcount.diffing.model import Diff
from hfcount.diffing.pieces import ConfigKey, Effect, Expectation, Held, Side, TensorPair, ValueRow, Values
from hfcount.text import binary, plural, printable, shown

_NAMES = 3
_COUNTED = 9  # elements up to which counts are shown instead of shares
_MANY = 100  # times, above which a share has an exponent

ARROW = " -> "
"""From A's to B's."""

EFFECTS: dict[Effect, str] = {
    "tensors": "Config keys that change tensors",
    "storage": "Config keys about how tensors are stored",
    "reading": "Config keys that change how the model computes",
    "unknown": "Config keys whose effect is not known",
    "training": "Config keys that change only training",
    "none": "Config keys that change nothing",
}

OTHERS = "Tensors with other values, by name"

TITLES = {"differing": "Files that differ", "only_a": "Files only in A", "only_b": "Files only in B"}
"""Titles of the lists of files, by field."""


def side_line(side: Side) -> str:
    """The facts of a side in one line."""
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
    "not read": lambda side: side.error.message if side.error else "",
}
"""Facts of a side, and how each is written."""


def side_facts(diff: Diff) -> Iterator[tuple[str, str, str]]:
    """Facts of both sides as rows: name, A, B."""
    for name, written in FACTS.items():
        in_a, other = written(diff.a), written(diff.b)
        if in_a or other:
            yield name, in_a, other


def expected(wanted: Expectation) -> str:
    """Whether what was expected holds."""
    word = {True: "yes", False: "no", None: "unknown"}[wanted.met]
    return f"Expected {wanted.expected}: {word}, {wanted.reason}."


def brief_line(diff: Diff) -> str:
    """How B derives from A, and whether that was expected, in a line without line breaks."""
    names = f"{printable(diff.a.model)} {printable(diff.b.model)}"
    return printable(f"{names}: {diff.summary}.{f' {expected(diff.expectation)}' if diff.expectation else ''}", None)


def lists(diff: Diff) -> Iterator[tuple[str, Sequence[TensorPair]]]:
    """The lists of tensors that are not empty, with their titles."""
    tensors = diff.tensors
    if tensors is None:
        return
    sections = (
        ("Only in A", tensors.only_a),
        ("Only in B", tensors.only_b),
        ("Other shapes", tensors.shapes),
        ("Other dtypes", tensors.dtypes),
        ("The same, stored differently", tensors.renamed),
    )
    yield from ((title, pairs) for title, pairs in sections if pairs)


def key_row(row: ConfigKey) -> tuple[str, str, str, str]:
    """A key, its two values, and the tensors and readers that it affects."""
    names = named(row.tensors)
    return row.key, value(row, "a"), value(row, "b"), "; ".join(filter(None, (", ".join(names), row.readers)))


def named(rows: Sequence[str]) -> list[str]:
    """The first of folded names, and the number of others."""
    left = len(rows) - _NAMES
    return [*rows[:_NAMES], f"and {plural(left, 'more row')}"] if left > 1 else list(rows)


def value(row: ConfigKey, side: str) -> str:
    """The value of a side, or that it is absent there."""
    value_: Any = getattr(row, side)
    if row.absent == side:
        return "absent" if value_ is None else f"{brief(value_)} (by default)"
    return brief(value_)


def brief(value: Any) -> str:
    """A short form of a config value."""
    if isinstance(value, list) and len(value) <= 4 and not any(isinstance(item, list | dict) for item in value):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    if isinstance(value, dict) and len(value) <= 4 and not any(isinstance(x, list | dict) for x in value.values()):
        return ", ".join(f"{printable(name, 60)} {shown(item)}" for name, item in value.items())
    return shown(value)


def line(pair: TensorPair) -> str:
    """A row of tensors in one line."""
    return "  ".join(filter(None, differences(pair)))


def differences(pair: TensorPair) -> tuple[str, str, str]:
    """The names of a row, its shapes and its dtypes, on both sides where they differ."""
    sides = [tensor for tensor in (pair.a, pair.b) if tensor]
    names, shapes, dtypes = (
        ARROW.join(dict.fromkeys(texts))
        for texts in (
            [tensor.name for tensor in sides],
            [str([*tensor.shape]) for tensor in sides],
            [tensor.dtype or "unknown" for tensor in sides],
        )
    )
    return names or pair.name, shapes, "" if dtypes == "unknown" else dtypes


def facts(held: Held) -> str:
    """Shape and dtype."""
    return f"{list(held.shape)} {held.dtype or ''}".rstrip()


def value_line(row: ValueRow) -> str:
    """How the values of some tensors compare."""
    if not row.differing:
        return f"{row.name}: {plural(row.tensors, 'tensor')}, identical"
    verb = "differs" if row.differing == 1 else "differ"
    text = f"{row.name}: {row.differing:,} of {plural(row.tensors, 'tensor')} {verb}"
    if row.share is None or row.rms is None or row.largest is None:
        return text
    where = _where(row)
    if row.beyond and not row.largest:
        return f"{text}, {where}, {row.beyond:,} NaN or infinite"
    if not (row.beyond or row.largest):
        return f"{text}, {where}, only in the sign of zeros"
    relative = f", {share(row.relative)} of A's" if row.relative is not None else ""
    size = f"by {row.rms:.3g} (root mean square{relative}), at most {row.largest:.3g}"
    beyond = f", {row.beyond:,} NaN or infinite" if row.beyond else ""
    return f"{text}, {where}{beyond}, {size}"


def _where(row: ValueRow) -> str:
    """The number or share of differing elements, and the first one's index for a single tensor."""
    few = row.elements is not None and row.elements <= _COUNTED
    whose = "its" if row.differing == 1 else "their"
    many = plural(row.elements or 0, "element") if few else f"{share(row.share or 0)} of {whose} elements"
    if row.first is None:
        return f"in {many}"
    place = f"[{', '.join(map(str, row.first))}]"
    return f"in the element {place}" if row.elements == 1 else f"in {many}, the first {place}"


def share(value: float, digits: int = 2) -> str:
    """A percentage; a tiny one as `less than` the smallest that is shown."""
    least = float(f"1e-{digits + 2}")
    if 0 < value < least / 2:
        return f"less than {least:.{digits}%}"
    return f"{value:.{digits}%}" if value < _MANY else f"{100 * value:.3g}%"


def other_rows(values: Values) -> list[str]:
    """Lines for tensors that differ by more than rounding, the largest first."""
    return [value_line(row) for row in values.rows if row.other]


def is_apart(part: Diff) -> bool:
    """Whether a part of a pipeline differs."""
    return any(relation.kind not in ("same-files", "same-values") for relation in part.relations)
