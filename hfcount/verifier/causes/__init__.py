"""Searches for the proven cause of differing names and shapes; runs only if a check failed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from hfcount.fetcher.layout import CONFIG
from hfcount.text import printable
from hfcount.verifier.causes.case import Case, Cause
from hfcount.verifier.causes.config_flags import switched, typed
from hfcount.verifier.causes.config_keys import classed, misspelt, without_part
from hfcount.verifier.causes.drafts import drafted
from hfcount.verifier.causes.lost_weights import beside, lost, renumbered, stripped
from hfcount.verifier.causes.mixed_shards import mixed
from hfcount.verifier.causes.other_layout import packed_apart, relaid
from hfcount.verifier.causes.other_names import foreign, misnamed
from hfcount.verifier.causes.ranks import divided, partitioned
from hfcount.verifier.causes.regrouped import regrouped
from hfcount.verifier.causes.row_counts import contradicting, halved, transposed
from hfcount.verifier.causes.sizes import of_sizes
from hfcount.verifier.causes.stored_rows import MOST_ROWS
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import DIFFERING, Outcome


def _both(case: Case) -> Iterator[Cause]:
    """Two causes, the second of which explains all that the first leaves."""
    for first in chain(of_sizes(case), switched(case)):
        rest = case.under(first.changes)
        for second in chain(of_sizes(rest), switched(rest)):
            if rest.open == set(second.codes):
                fix = " ".join(filter(None, (first.fix, second.fix)))
                new, sole = {**first.changes, **second.changes}, first.sole and second.sole
                yield Cause(case.open, f"{first.says} {second.says}", fix, new, sole=sole)
                return


_Finder = Callable[[Case], Iterable[Cause]]

CAUSES: tuple[_Finder, ...] = (
    partitioned,
    divided,
    drafted,
    misspelt,
    classed,
    without_part,
    of_sizes,
    switched,
    renumbered,
    stripped,
    _both,
    typed,
    regrouped,
    foreign,
    misnamed,
    relaid,
    packed_apart,
    transposed,
    halved,
    mixed,
    contradicting,
    lost,
    beside,
)
"""Possible causes, the most certain first."""

_OF_MANY = (foreign,)
"""Causes that are searched for where too much differs to try other configs."""

_MOST_KEYS = 10_000  # values that a config holds, besides labels, for which others are tried; large ones have 2,000
_LABELS = ("id2label", "label2id")

_FILES = {"HF003", "HF004", "HF005", "HF007"}
"""Findings about files that are broken or absent."""


def explain(
    comparison: Comparison,
    outcome: Outcome,
    values: Mapping[str, Any],
    again: Callable[..., Outcome],
    until: float | None = None,
) -> None:
    """Gives findings about names and shapes their cause; a finding of the same cause joins the first one.

    Args:
        values: the config.
        again: runs all checks on another blueprint, with other announcements of a quantisation if these are given.
        until: deadline of the search, by time.monotonic; None for no limit.
    """
    if comparison.packed:
        from hfcount.verifier.causes.settings import resettled  # most checkpoints are not quantised

        packing = resettled(comparison, outcome, values, partial(again, comparison.blueprint))
        if packing:
            _name(packing, outcome)
            return
    open_ = [finding.code for finding in outcome.findings if finding.code in DIFFERING]
    if not open_ or comparison.names is None:
        return
    wrapped = comparison.names.wrapped
    if wrapped and not wrapped.pairs:
        return  # an adapter alone, without the model that it adapts
    case = Case(comparison, values, outcome, again, until=until)
    if not case.complete:
        _name_class(case, frozenset(open_), outcome)
        return
    _condense(case, outcome)
    if open_ == ["HF201"] and not _FILES.isdisjoint(finding.code for finding in outcome.findings):
        return  # what is missing may be in files that are
    too_much = _too_much(case)
    causes, unlooked = _found(case, frozenset(open_), _OF_MANY if too_much else CAUSES)
    chosen = _chosen(causes, frozenset(open_))
    if too_much:
        unlooked = f"{too_much} for which it tries other configs"
    if unlooked and not chosen:
        chosen = [Cause({open_[0]}, f"hfcount stopped looking for the cause: {unlooked}.")]
    for cause in chosen:
        _name(cause, outcome)


def _too_much(case: Case) -> str:
    """What is more than other configs are tried for, as a sentence begins; "" where nothing is."""
    if (rows := case.difference.rows) > MOST_ROWS:
        return f"{rows:,} rows of names differ, more than the {MOST_ROWS:,}"
    keys = sum(_keys(value) for name, value in case.values.items() if name not in _LABELS)
    return f"the config holds {keys:,} values, more than the {_MOST_KEYS:,}" if keys > _MOST_KEYS else ""


def _keys(value: Any) -> int:
    """How many values a value of a config holds, itself among them."""
    return 1 + sum(map(_keys, value.values())) if isinstance(value, dict) else 1


def _name_class(case: Case, codes: frozenset[str], outcome: Outcome) -> None:
    """Names the class that is stored, for which all checks are asked, and not the names alone."""
    for cause in classed(case):
        _name(replace(cause, codes=codes), outcome)


def _found(case: Case, codes: frozenset[str], finders: Sequence[_Finder]) -> tuple[list[Cause], str]:
    """Causes of some findings, up to the first of all findings; and why the search ended early, or ""."""
    causes: list[Cause] = []
    try:
        for find in finders:
            for cause in find(case):
                causes.append(cause)
                if _explains_all(cause, codes):
                    return causes, ""
    except TimeoutError:
        return causes, "the time limit (--timeout) is reached"
    return causes, ""


def _explains_all(cause: Cause, codes: frozenset[str]) -> bool:
    return codes == codes.intersection(cause.codes) and not set(DIFFERING).intersection(cause.codes) - codes


def _chosen(causes: Sequence[Cause], codes: frozenset[str]) -> list[Cause]:
    """The first cause of everything, or else causes of different findings."""
    if causes and _explains_all(causes[-1], codes):
        return [causes[-1]]
    open_, chosen = codes, list[Cause]()
    for cause in causes:
        if open_.issuperset(explained := set(DIFFERING).intersection(cause.codes)):
            open_ -= explained
            chosen.append(cause)
    # While some tensors are inexplicable, what explains others may be wrong.
    return [replace(cause, fix=None, sole=False) for cause in chosen] if "HF202" in open_ else chosen


def _condense(case: Case, outcome: Outcome) -> None:
    """Gives whole parts and whole layers as one row, unless nothing at all is there under its name."""
    if not any(rows for _, rows in case.difference.pairs):
        return
    for place, finding in enumerate(outcome.findings):
        missing_or_beyond = {"HF201": case.gone, "HF202": case.beyond}.get(finding.code)
        if missing_or_beyond and len(rows := missing_or_beyond.rows()) < len(finding.tensors):
            outcome.findings[place] = finding.replace(parts=tuple(map(printable, rows)))


def _name(cause: Cause, outcome: Outcome) -> None:
    """Gives the first finding that a cause explains its sentences, and the other errors to the first."""
    place, first = next((at, finding) for at, finding in enumerate(outcome.findings) if finding.code in cause.codes)
    others = [finding for finding in outcome.findings[place + 1 :] if finding.code in cause.codes]
    joined = tuple(finding for finding in others if finding.severity == "error")
    named = first.replace(cause=cause.says, fix=cause.fix, joined=joined, changes=cause.changes, sole=cause.sole)
    if key := next(iter(cause.changes), cause.key):
        named = named.replace(key=key, file=CONFIG)
    rest = [finding for finding in outcome.findings[place + 1 :] if finding.code not in cause.codes]
    outcome.findings[place:] = [named, *rest]
