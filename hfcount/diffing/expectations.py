"""Checks whether B is to A what --expect names."""

from collections.abc import Callable, Mapping, Sequence

from hfcount.diffing.contents import has_unrelated_layers
from hfcount.diffing.model import Diff
from hfcount.diffing.other_files import modules
from hfcount.diffing.pieces import Expectation, Kind
from hfcount.options import Expected
from hfcount.text import plural

_FORM = ("spelling", "container", "same-structure", "same-values", "same-files")
_LOOK = "values were not compared (--sample or --depth data compares them)"
_FEW = 3

Judgement = tuple[bool | None, str]
"""Whether an expectation is met (None if unknown), and why."""


def expectation(
    expected: Expected,
    diff: Diff,
    merged: Callable[[], Judgement] | None = None,
    allow_nan: bool = False,
    mergeable: Callable[[], Judgement] | None = None,
) -> Expectation:
    """Checks an expectation against a diff.

    Args:
        merged: checks whether an adapter was merged.
        mergeable: checks whether mergekit merges both.
        allow_nan: whether B may hold NaN and infinite values that A does not have.
    """
    checks: Mapping[Expected, Callable[[Diff], Judgement]] = {
        "same": _same,
        "finetune": _finetune,
        "cast": _cast,
        "quantised": _quantised,
    }
    met: bool | None
    if not allow_nan and (broken := introduced(diff)):
        met, reason = False, broken
    elif "order" in _kinds(diff):
        met, reason = False, "its layers or experts are in another order than A's"
    elif expected == "mergeable":
        met, reason = mergeable() if mergeable else _of_pipelines(diff)
    elif diff.same_structure is None:
        met, reason = None, _untold(diff)
    elif expected == "merge":
        met, reason = merged() if merged else _of_files(diff)
    else:
        met, reason = checks[expected](diff)
    return Expectation(expected=expected, met=met, reason=reason)


def introduced(diff: Diff) -> str:
    """Which values of B are NaN or infinite where A's are not; empty if none are."""
    values = diff.values
    if values is None or not values.introduced:
        return ""
    names = values.introduced_in
    more = f" and {plural(len(names) - 1, 'more row')}" if len(names) > 1 else ""
    verb = "is" if values.introduced == 1 else "are"
    return (
        f"{plural(values.introduced, 'value')} of B {verb} NaN or infinite, and A's {verb} not: {names[0]}{more}"
        " (--allow-nan takes them)"
    )


def _of_pipelines(diff: Diff) -> Judgement:
    """Whether mergekit merges what is a pipeline on one side at least."""
    if diff.same_structure is None and diff.parts is None:
        return None, _untold(diff)
    return False, "one is a pipeline, but mergekit merges single models with a config.json"


def _untold(diff: Diff) -> str:
    doubts = [relation.text for relation in diff.relations if relation.kind == "unread"]
    return f"B {'; '.join(doubts)}" if doubts else "the two could not be compared"


def _same(diff: Diff) -> Judgement:
    keys = [row.key for row in diff.config if row.effect in ("tensors", "storage", "reading")]
    if not diff.same_structure:
        return False, "its structure differs from A"
    if keys:
        return False, f"its config differs ({', '.join(keys[:_FEW])})"
    if files := modules(diff.files):
        return False, f"its modules differ from A's ({', '.join(files[:_FEW])})"
    return _identical(diff)


def _identical(diff: Diff) -> Judgement:
    """Whether all values are A's, given equal structures."""
    kinds = _kinds(diff)
    if "same-files" in kinds or (diff.depth == "listing" and "same-values" in kinds):
        return True, "all weight files have the same checksums as A's"
    if kinds & {"finetune", "another-model"}:
        return False, "some values differ from A's"
    if diff.values is None:
        return None, _LOOK
    if diff.values.identical < diff.values.tensors:
        return False, "some values are rounded"
    if diff.values.uncompared:
        return None, _uncompared(diff)
    return True, f"all tensors equal A's{' in samples' if diff.values.sampled else ''}"


def _finetune(diff: Diff) -> Judgement:
    if not diff.same_structure:
        return False, "its structure differs from A"
    if "another-model" in _kinds(diff):
        return False, "its values are unrelated to A's"
    if diff.values is not None and has_unrelated_layers(diff.values):
        return False, "the values of its layers that differ are unrelated to A's"
    same, reason = _identical(diff)
    if same is False and "finetune" not in _kinds(diff):
        return False, reason
    if same is False:
        return True, "it has A's structure and other values"
    return (False if same else None), reason


def _cast(diff: Diff) -> Judgement:
    others = _kinds(diff) - {"cast", *_FORM}
    if "cast" not in _kinds(diff):
        return False, "its dtypes are the same as A's" if diff.same_structure else "it is not A in another dtype"
    if others - {"reading"}:
        return False, f"more than dtypes differ ({', '.join(sorted(others))})"
    rest = _uncompared(diff)
    return True, f"only its dtypes differ; {rest}" if rest else "its tensors are A's in another dtype"


def _quantised(diff: Diff) -> Judgement:
    others = _kinds(diff) - {"quantised", "cast", *_FORM}
    if "quantised" not in _kinds(diff):
        return False, "it is not quantised, or A is quantised, too"
    if others - {"reading", "prediction", "towers"}:
        return False, f"more differs than how weights are stored ({', '.join(sorted(others))})"
    rest = _uncompared(diff)
    return True, f"its matrices are quantised; {rest}" if rest else "its matrices are A's, quantised"


def _uncompared(diff: Diff) -> str:
    """Which values were not compared; empty if all were."""
    if diff.values is None:
        return "values were not compared (--depth data compares them)"
    left = diff.values.uncompared
    return f"{plural(left, 'tensor')} could not be compared by value" if left else ""


def _of_files(diff: Diff) -> Judgement:
    """Rejects a merge if all files are equal; else the answer is unknown."""
    same, reason = _identical(diff)
    return (False, f"nothing was merged: {reason}") if same else (None, _LOOK)


def _kinds(diff: Diff) -> set[Kind]:
    return {relation.kind for relation in diff.relations}


def merged(targets: Sequence[str], allowed: Sequence[str], same: Mapping[str, bool], diff: Diff) -> Judgement:
    """Whether exactly the targets of an adapter differ.

    Args:
        targets: keys of tensors that must differ.
        allowed: keys of tensors that may differ.
        same: whether the values are A's, by key.
    """
    if not (diff.same_structure or _is_cast(diff)):
        return False, "its structure differs from A"
    if not same:
        return _of_files(diff)
    how = " in samples" if diff.values and diff.values.sampled else ""
    if others := [key for key, alike in same.items() if not alike and key not in {*targets, *allowed}]:
        verb = "differs" if len(others) == 1 else "differ"
        return False, f"{_listed(others)} {verb}{how}, but the adapter does not adapt them"
    return _targeted(targets, same, diff, how)


def _targeted(targets: Sequence[str], same: Mapping[str, bool], diff: Diff, how: str) -> Judgement:
    """Whether all targets differ, given that nothing else does."""
    if left := [key for key in targets if same.get(key)]:
        verb = "has" if len(left) == 1 else "have"
        return False, f"{_listed(left)} of {plural(len(targets), 'target')} {verb} A's values{how}"
    unknown = [key for key in targets if key not in same]
    if unknown or (diff.values and diff.values.uncompared):
        return None, f"not all tensors could be compared, such as {_listed(unknown or ['those of another form'])}"
    saved = sum(not alike and key not in targets for key, alike in same.items())
    more = f"also {plural(saved, 'tensor')} that the adapter saves or trains completely" if saved else "nothing else"
    return True, f"all {len(targets):,} targets of the adapter differ{how}, {more}"


def _is_cast(diff: Diff) -> bool:
    """Whether the structures differ in floating-point dtypes alone."""
    return "cast" in _kinds(diff) and not _kinds(diff) - {"cast", "finetune", "reading", *_FORM}


def _listed(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - 1:,} more" if len(keys) > 1 else ""
    return f"{keys[0]}{more}"
