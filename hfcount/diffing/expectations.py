"""Whether B is what it is expected to be to A."""

from collections.abc import Callable, Mapping, Sequence

from hfcount.diffing.model import Diff
from hfcount.diffing.other_files import modules
from hfcount.diffing.pieces import Expectation, Kind
from hfcount.options import Expected
from hfcount.text import plural

_FORM = ("spelling", "container", "same-structure", "same-values", "same-files")
_LOOK = "values were not compared: --sample or --depth data tells"
_FEW = 3

Told = tuple[bool | None, str]
"""Whether an expectation is met, None where that cannot be told, and why."""


def expectation(expected: Expected, found: Diff, merged: Callable[[], Told] | None = None) -> Expectation:
    """Whether it is.

    Args:
        merged: says whether an adapter was merged.
    """
    checks: Mapping[Expected, Callable[[Diff], Told]] = {
        "same": _same,
        "finetune": _finetune,
        "cast": _cast,
        "quantised": _quantised,
    }
    if found.same_structure is None:
        met, reason = None, _untold(found)
    elif expected == "merge":
        met, reason = merged() if merged else _of_files(found)
    else:
        met, reason = checks[expected](found)
    return Expectation(expected=expected, met=met, reason=reason)


def _untold(found: Diff) -> str:
    doubts = [one.text for one in found.relations if one.kind == "unread"]
    return f"B {'; '.join(doubts)}" if doubts else "the two could not be compared"


def _same(found: Diff) -> Told:
    keys = [row.key for row in found.config if row.effect in ("tensors", "storage", "reading")]
    if not found.same_structure:
        return False, "its structure is not A's"
    if keys:
        return False, f"it is configured otherwise ({', '.join(keys[:_FEW])})"
    if files := modules(found.files):
        return False, f"its modules are not A's ({', '.join(files[:_FEW])})"
    return _identical(found)


def _identical(found: Diff) -> Told:
    """Whether all values are A's, of two of one structure."""
    kinds = _kinds(found)
    if "same-files" in kinds or (found.depth == "listing" and "same-values" in kinds):
        return True, "all weight files have the checksums of A's"
    if kinds & {"finetune", "another-model"}:
        return False, "some values are not A's"
    if found.values is None:
        return None, _LOOK
    if found.values.identical < found.values.tensors:
        return False, "some values are A's rounded"
    if found.values.uncompared:
        return None, _uncompared(found)
    return True, f"all tensors are A's{' in samples' if found.values.sampled else ''}"


def _finetune(found: Diff) -> Told:
    if not found.same_structure:
        return False, "its structure is not A's"
    if "another-model" in _kinds(found):
        return False, "its values have nothing to do with A's"
    same, reason = _identical(found)
    if same is False and "finetune" not in _kinds(found):
        return False, reason
    if same is False:
        return True, "its structure is A's, and some values are not"
    return (False if same else None), reason


def _cast(found: Diff) -> Told:
    others = _kinds(found) - {"cast", *_FORM}
    if "cast" not in _kinds(found):
        return False, "its dtypes are A's" if found.same_structure else "it is not A in another dtype"
    if others - {"reading"}:
        return False, f"more than dtypes differ ({', '.join(sorted(others))})"
    rest = _uncompared(found)
    return True, f"only its dtypes are others; {rest}" if rest else "its tensors are A's in another dtype"


def _quantised(found: Diff) -> Told:
    others = _kinds(found) - {"quantised", "cast", *_FORM}
    if "quantised" not in _kinds(found):
        return False, "it is not packed, or A is, too"
    if others - {"reading", "prediction", "towers"}:
        return False, f"more differs than how weights are stored ({', '.join(sorted(others))})"
    rest = _uncompared(found)
    return True, f"its matrices are packed; {rest}" if rest else "its matrices are A's, packed"


def _uncompared(found: Diff) -> str:
    """Which values are not known to be A's, where no others are; empty if all are."""
    if found.values is None:
        return "values were not compared: --depth data tells"
    left = found.values.uncompared
    return f"{plural(left, 'tensor')} could not be compared by value" if left else ""


def _of_files(found: Diff) -> Told:
    """An adapter that is merged leaves no weights as they are."""
    same, reason = _identical(found)
    return (False, f"nothing was merged: {reason}") if same else (None, _LOOK)


def _kinds(found: Diff) -> set[Kind]:
    return {one.kind for one in found.relations}


def merged(targets: Sequence[str], allowed: Sequence[str], same: Mapping[str, bool], found: Diff) -> Told:
    """Whether exactly the targets of an adapter differ.

    Args:
        targets: the keys of the tensors that have to differ.
        allowed: those that may.
        same: by key whether the values are A's.
    """
    if not (found.same_structure or _is_cast(found)):
        return False, "its structure is not A's"
    if not same:
        return _of_files(found)
    how = " in samples" if found.values and found.values.sampled else ""
    if others := [key for key, alike in same.items() if not alike and key not in {*targets, *allowed}]:
        verb = "differs" if len(others) == 1 else "differ"
        return False, f"{_listed(others)} {verb}{how}, which the adapter does not adapt"
    return _targeted(targets, same, found, how)


def _targeted(targets: Sequence[str], same: Mapping[str, bool], found: Diff, how: str) -> Told:
    """Whether all targets differ, where nothing else does."""
    if left := [key for key in targets if same.get(key)]:
        verb = "has" if len(left) == 1 else "have"
        return False, f"{_listed(left)} of {plural(len(targets), 'target')} {verb} A's values{how}"
    unknown = [key for key in targets if key not in same]
    if unknown or (found.values and found.values.uncompared):
        return None, f"not all tensors could be compared, such as {_listed(unknown or ['those of another form'])}"
    saved = sum(not alike and key not in targets for key, alike in same.items())
    more = f"besides only {plural(saved, 'tensor')} that it saves or trains whole" if saved else "nothing else"
    return True, f"all {len(targets):,} targets of the adapter differ{how}, and {more}"


def _is_cast(found: Diff) -> bool:
    """Whether nothing but dtypes of floats keeps the structure from being the same, and values."""
    return "cast" in _kinds(found) and not _kinds(found) - {"cast", "finetune", "reading", *_FORM}


def _listed(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - 1:,} more" if len(keys) > 1 else ""
    return f"{keys[0]}{more}"
