"""What is learnt of rows of tensors over the same probes, for tests/tools/standins.py."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from standin_decisions import Decided
from standin_effects import Effects
from standin_fits import Sample
from standin_probes import Probe
from standin_rows import Points, Row, literal, otherwise, ranges_and_samples, samples

_SECONDS_OF_LESSONS = 60
"""After which nothing further is tried for rows that follow no rule."""


class Lessons:
    """What is learnt of rows of the same probes."""

    def __init__(self, probes: Sequence[Probe], effects: Effects) -> None:
        self.probes, self.effects, self.points = probes, effects, Points()
        self._known: dict[Any, Decided] = {}
        self.started = time.process_time()

    def of_all(self, rows: Iterable[Row]) -> list[tuple[Row, Decided]]:
        """The decisions on rows, those in most probes learnt first: their ranges are those of rarer ones, too."""
        rows = list(rows)
        for row in sorted(rows, key=_many, reverse=True):
            self.learnt(row)
        return [decided for row in rows for decided in self.learnt(row)]

    def learnt(self, row: Row) -> list[tuple[Row, Decided]]:
        """The decision on a row; those on the rows of each number, if these explain more."""
        key = (tuple(sorted(row.labels.items())), row.at)
        if key not in self._known:
            self._known[key] = self._decided(row)
        usual = self._known[key]
        best = [(row, usual)]
        is_odd = bool(usual.unexplained) or "<=>" in json.dumps(usual.decision)
        for others in self._others(row) if is_odd and self._has_time() else ():
            known = [found for inner in others for found in self.learnt(inner)]
            if known and _rank(known) < _rank(best):
                best = known
        return best

    def _has_time(self) -> bool:
        return time.process_time() - self.started < _SECONDS_OF_LESSONS

    def _others(self, row: Row) -> Iterator[Sequence[Row]]:
        """Other rows in place of one: for each number, or with a rule at each."""
        for place in row.at:
            yield literal(row, self.probes, place)
        yield from otherwise(row, self.probes)

    def _decided(self, row: Row) -> Decided:
        if not row.at:
            return self._of_samples(row, samples(row, self.probes, self.points), 0, (row.name, row.kind))
        ranges, inner = ranges_and_samples(row, self.probes, self.points)
        made = []
        for place, labelled in enumerate([*ranges, inner]):
            braces = min(place, len(row.at))
            decided = self._of_samples(
                row, [sample for _, sample in labelled], braces, (row.name, row.kind, place), place < len(row.at)
            )
            odd = [sorted({labelled[at][0] for at in found}) for found in decided[1:]]
            made.append(Decided(decided.decision, *odd))
        return Decided(
            {"at": row.at, "of": [one.decision for one in made[:-1]], "rule": made[-1].decision},
            sorted({place for one in made for place in one.unexplained}),
            sorted({place for one in made for place in one.without_rule}),
        )

    def _of_samples(
        self, row: Row, labelled: Sequence[Sample], braces: int, where: Any, is_range: bool = False
    ) -> Decided:
        """The decision on samples: of keys that bear on them, or of all if those do not explain it."""
        if not any(sample.label for sample in labelled):
            return Decided(None, [], [])
        best: Decided | None = None
        labels = row.all_numbers if is_range else row.labels
        bearing = {place: str(sorted(found)) if is_range else found for place, found in labels.items()}
        for learner in (self.effects.learner(bearing, braces), self.effects.learner(None, braces)):
            if learner is not None and (best is None or (best.unexplained and self._has_time())):
                decided = learner.decide(labelled, where)
                best = decided if best is None or len(decided.unexplained) < len(best.unexplained) else best
        assert best is not None
        return best


def _many(row: Row) -> int:
    return len(row.labels)


def _rank(found: Sequence[tuple[Row, Decided]]) -> tuple[int, int]:
    """How many probes are not explained, and how long the decisions are: a longer one follows chance more often."""
    left = {place for _, decided in found for place in decided.unexplained}
    return len(left), sum(len(json.dumps(decided.decision)) for _, decided in found)
