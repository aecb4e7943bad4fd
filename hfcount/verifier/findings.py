"""What checking yields: checks that compare two numbers, and findings that explain a difference."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hfcount.text import printable
from hfcount.tree.block import is_index
from hfcount.tree.indices import Indices
from hfcount.verifier.rules import RULES, Rule

if TYPE_CHECKING:
    from hfcount.verifier.names import Match

_ROWS = 100  # folded names that a finding lists
_INDICES = 8  # a name with more numbers is no module's, and stands for itself


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison; `text` says how the expected number comes about."""

    name: str
    expected: int
    observed: int
    text: str = ""

    @property
    def agrees(self) -> bool:
        """Whether both numbers are the same."""
        return self.expected == self.observed


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference, explained.

    Args:
        rule: what it is a case of.
        message: what, where, both numbers, and what to do.
        tensors: their names, folded; `count` of them.
        parameters: their elements; None when they cannot be known.
        bytes: their size; None when it cannot be known.
    """

    rule: Rule
    message: str
    tensors: tuple[str, ...] = ()
    count: int = 0
    parameters: int | None = 0
    bytes: int | None = 0


@dataclass(slots=True)
class Outcome:
    """What was found.

    Args:
        stored: elements in the checkpoint, and `dtypes` the same by dtype; None when nothing tells them.
        proven: whether the bytes were held against an exact number.
        settled: whether names and bytes agree exactly, so that there is no need to look further.
        match: how the names agree, for a step that looks further.
    """

    checks: list[Check] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    stored: int | None = None
    dtypes: dict[str, int] | None = None
    proven: bool = False
    settled: bool = False
    match: "Match | None" = None

    def report(
        self,
        code: str,
        message: str,
        tensors: Iterable[str] = (),
        count: int = 0,
        parameters: int | None = 0,
        bytes: int | None = 0,
    ) -> None:
        """Adds a finding; `tensors` are folded names."""
        rows = [printable(row) for row in tensors]
        if len(rows) > _ROWS:
            rows[_ROWS:] = [f"... and {len(rows) - _ROWS:,} more rows"]
        self.findings.append(Finding(RULES[code], message, tuple(rows), count, parameters, bytes))


def fold(names: Iterable[str]) -> list[str]:
    """Names that differ only in indices, each group as one, such as `model.layers.{0-63}.mlp.up_proj.weight`."""
    groups: dict[tuple[str | None, ...], list[tuple[int, ...]]] = {}
    for name in names:
        segments = name.split(".")
        if sum(map(is_index, segments)) > _INDICES:
            groups[(name,)] = [()]
            continue
        template = tuple(None if is_index(segment) else segment for segment in segments)
        groups.setdefault(template, []).append(tuple(int(segment) for segment in segments if is_index(segment)))
    return [
        ".".join(segment if segment is not None else next(filled) for segment in template)
        for template, places in groups.items()
        for filled in map(iter, _ranges(places))
    ]


def _ranges(places: Sequence[tuple[int, ...]]) -> list[list[str]]:
    """Tuples of indices as products of ranges, the fewest that taking the first index apart gives."""
    if not places[0]:
        return [[]]
    by_first: dict[int, list[tuple[int, ...]]] = {}
    for first, *rest in places:
        by_first.setdefault(first, []).append(tuple(rest))
    by_rest: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for first, rests in by_first.items():
        by_rest.setdefault(tuple(sorted(rests)), []).append(first)
    return [[_range(firsts), *rest] for rests, firsts in by_rest.items() for rest in _ranges(rests)]


def _range(numbers: Sequence[int]) -> str:
    text = str(Indices.of(numbers))
    return text if len(numbers) == 1 else f"{{{text}}}"
