"""Cause: wrong sizes in the config, of one key or several."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.spec.tree.dims import Dim, has_key, round_up
from hfcount.verifier.causes.case import Case, Cause, listed, sentence
from hfcount.verifier.causes.hints import BY_DEFAULT, Hint, Sights, agreed, derived, scaled, sights
from hfcount.verifier.causes.stored_rows import Difference, StoredRows

_TRIES = 60  # configs
_LISTS = 6  # with an entry for each layer
_DERIVED = 4  # sizes that are computed from several keys, and that are solved for each of them
_MODEL = 3  # from so many keys on, the config is that of another model
_NAMES = "id2label"
_LABELS = 100_000  # more are no labels
_NO_SIZES = ("dtype", "_types", "_config")  # endings of keys that hold no number
_SMALL = 16  # numbers that are tried beside one that fits, since heads and factors are often so few
_MULTIPLES = [2**power for power in range(3, 15)]

Fit = dict[str, Hint]
"""Values that fit together, by key."""


def of_sizes(case: Case) -> Iterator[Cause]:
    """Sizes of the config that are not those of what is stored."""
    solutions = [(fit, case.solved(changes(case, fit))) for fit in _search(case)]
    open_ = {code for _, codes in solutions for code in codes}
    for solved in sorted({codes for _, codes in solutions if codes}, key=len, reverse=True):
        fits = [fit for fit, codes in solutions if codes == solved]
        fits = [fit for fit in fits if not any(other.items() < fit.items() for other in fits)]
        fits = [fit for fit in fits if len(fit) == 1] or fits  # that several keys are wrong at once is less likely
        if solved <= open_ and (fits := [fit for fit in fits if case.proven(changes(case, fit))]):
            open_ -= solved
            yield _cause(case, solved, _distinct([_spanned(case, fit, solved) for fit in fits]))


def changes(case: Case, fit: Fit) -> dict[str, Any]:
    """The config's new values.

    Lists that the family holds to one entry for each of these layers are cut, or continued if all entries are alike.
    """
    result: dict[str, Any] = {}
    for key, hint in fit.items():
        result[key] = hint.fits
        if isinstance(case.value(key), Mapping):  # of labels, which count by their names
            result[key] = {str(number): f"LABEL_{number}" for number in range(min(hint.fits, _LABELS))}
        if hint.noun == "layer":
            result |= _lists(case, hint, result)
    return result


def _distinct(fits: Sequence[Fit]) -> list[Fit]:
    """The fits without those that say of their keys what another says."""
    said = {tuple((key, hint.fits, hint.unsure) for key, hint in fit.items()): fit for fit in reversed(fits)}
    return list(reversed(said.values()))


def _spanned(case: Case, fit: Fit, codes: frozenset[str]) -> Fit:
    """A value that no stored size gives by itself, with the others of its key that fit alike."""
    if len(fit) > 1 or any(hint.noun for hint in fit.values()):
        return fit
    (hint,) = fit.values()
    made = case.with_changes(changes(case, fit))
    if made is None or hint.key in sights(*made, case.stored).keys:
        return fit

    def fits(number: int) -> bool:
        return number > 0 and case.solved(changes(case, {hint.key: hint._replace(fits=number)})) == codes

    low, high = _end(fits, hint.fits, -1), _end(fits, hint.fits, 1)
    others = {*range(1, _SMALL + 1), low // 2, high * 2}
    if any(fits(number) for number in sorted(others) if not low <= number <= high):
        return {hint.key: hint._replace(open=True)}
    return {hint.key: hint._replace(fits=low, upto=high if low < high else 0)}


def _end(fits: Callable[[int], bool], number: int, step: int) -> int:
    """The last number that fits in this direction, if all before it do; steps are doubled, and halved again."""
    if not fits(number + step):
        return number
    while fits(number + step):
        number += step
        step *= 2
    while step not in (1, -1):
        step = int(step / 2)
        number += step if fits(number + step) else 0
    return number


def _lists(case: Case, hint: Hint, new: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Lists that a config with another number of layers is refused for, each with as many entries."""
    result: dict[str, list[Any]] = {}
    for _ in range(_LISTS):
        problem = case.refusal({**new, **result})
        name = problem.key if problem else None
        entries = case.value(name) if name and name not in result else None
        if name is None or not isinstance(entries, list) or len(entries) != hint.read > 1:
            return result
        alike = all(entry == entries[0] for entry in entries)
        result[name] = entries[: hint.fits] + (entries[:1] * (hint.fits - hint.read) if alike else [])
    return result


def _search(case: Case) -> Iterator[Fit]:
    """Values that fit some of what is stored, the simplest first."""
    queue = [(Fit(), _View(case.blueprint, case.difference, case.stored))]
    known = {frozenset[tuple[str, float]]()}
    for _ in range(_TRIES):
        if not queue:
            return
        fit, view = queue.pop(0)
        made = case.with_changes(changes(case, fit))
        if made and fit:
            yield fit
            view = _View(*made, case.stored)
        # A value that the config refuses by itself, such as heads that do not divide, may need another beside it.
        for more in _proposals(case, view) if made else view.alone:
            new = fit | {hint.key: hint for hint in more}
            values = frozenset((key, hint.fits) for key, hint in new.items())
            if values not in known and not fit.keys() & {hint.key for hint in more}:
                known.add(values)
                queue.append((new, view))


@dataclass(frozen=True)
class _View:
    """A config that was tried, and what is seen of its sizes."""

    blueprint: Blueprint
    difference: Difference
    stored: StoredRows

    @cached_property
    def seen(self) -> Sights:
        """The stored values of its sizes."""
        return sights(self.blueprint, self.difference, self.stored)

    @cached_property
    def alone(self) -> list[list[Hint]]:
        """Every value of one key that would give a size that is seen."""
        return [[hint] for (_, _, value), size in self.seen.derived.items() for hint in derived(size, value, ())]


def _proposals(case: Case, view: _View) -> Iterator[Sequence[Hint]]:
    if not any(view.difference.counts):
        return
    sights = view.seen
    hints = agreed(sights)
    if hints:
        yield hints
    for hint in hints if len(hints) > 1 else ():
        yield [hint]
    for read, value in sights.perhaps:
        for key in counting(case, read):
            yield [Hint(key, read, value, case.source(key), "layer")]
    for (_, _, value), size in () if hints else list(sights.derived.items())[:_DERIVED]:
        numbers = {
            key: number for key in case.keys if key not in sights.read and type(number := case.value_read(key)) is int
        }
        for hint in chain(derived(size, value, _absent(case, size)), scaled(size, value, numbers)):
            yield [hint]


def counting(case: Case, number: int) -> list[str]:
    """Keys that may count as many layers; of those that are absent another may stand for each."""
    if isinstance(number, Dim) and has_key(number):
        alike = [key for key in case.keys if case.value(key) is None and _same(case.defaults.get(key), number)]
        return list(dict.fromkeys([number.source.removesuffix(BY_DEFAULT), *alike]))
    return [key for key in case.keys if _same(case.value_read(key), number)]


def _same(value: Any, number: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value == number


def _absent(case: Case, size: int) -> list[str]:
    """Keys that the config lacks, beside those that a size is computed from."""
    paths = {source.rpartition(".")[0] for source, _ in size.read()} if isinstance(size, Dim) else set()
    absent = [key for key in case.keys if case.value(key) is None and _may_be_size(case, key, paths)]
    return sorted(absent, key=lambda key: case.defaults.get(key) is not None)  # those first that another stands for


def _may_be_size(case: Case, key: str, paths: Collection[str]) -> bool:
    """Whether an absent key of these parts may hold a whole number."""
    path, _, name = key.rpartition(".")
    return path in paths and isinstance(case.defaults.get(key, 0), int | None) and not name.endswith(_NO_SIZES)


def _cause(case: Case, codes: frozenset[str], fits: Sequence[Fit]) -> Cause:
    fits = sorted(fits, key=len)
    text, new = _statement(fits), changes(case, fits[0])
    fix = ", or ".join(_orders(list(fit.values())) for fit in fits)
    if lists := [key for key in new if key not in fits[0]]:
        fix += f", and make {listed(lists)} that long"
    missing, *others = case.difference.counts
    if len(fits[0]) >= _MODEL:
        text, fix = (f"config.json is from another model: {text}", "use the config.json of the model that was saved")
    elif multiple := _padding(fits):
        (hint,) = fits[0].values()
        text += f": {hint.read:,} rounded up to a multiple of {multiple:,}, as Megatron and other trainers pad it"
        fix += f", or cut the rows from {hint.read:,} on"
    elif missing and not any(others):
        fix = f"add what is missing, or {fix}"
    return Cause(codes, sentence(text), sentence(fix), new, sole=_sole(fits))


def _sole(fits: Sequence[Fit]) -> bool:
    """Whether no other values are known that would explain it."""
    if len(fits) > 1 or len(fits[0]) >= _MODEL or any(hint.unsure for hint in fits[0].values()):
        return False
    return not any(key.endswith(_NAMES) for key in fits[0])  # nobody knows the names of labels


def _statement(fits: Sequence[Fit]) -> str:
    """The values that all have in common, then those in which they differ."""
    shared = [hint for hint in fits[0].values() if all(hint in fit.values() for fit in fits)]
    apart = [[hint for hint in fit.values() if hint not in shared] for fit in fits]
    text = "; ".join(map(str, shared))
    if len(fits) == 1:
        return text
    if not shared:
        return "; or, ".join(", and also ".join(map(str, hints)) for hints in apart)
    either = (" and ".join(f"{hint.key} {hint.fits:,} instead of {hint.read:,}" for hint in hints) for hints in apart)
    return f"{text}; with these, {', or '.join(either)} would fit"


def _orders(hints: Sequence[Hint]) -> str:
    """The values to write into the config, in words."""
    named = [f"name {hint.fits} labels in {hint.key}" for hint in hints if hint.key.endswith(_NAMES)]
    sure = [hint for hint in hints if not hint.unsure]
    given = [f"{hint.key} to {hint.fits}" for hint in sure if not (hint.absent or hint.key.endswith(_NAMES))]
    added = [f"{hint.key}: {hint.fits}" for hint in sure if hint.absent]
    texts = named + ([f"set {listed(given)}"] if given else []) + ([f"add {listed(added)}"] if added else [])
    texts += [
        f"{'add' if hint.absent else 'set'} {hint.key} to the value of the model that was saved (the sizes do not"
        " show it)"
        for hint in hints
        if hint.unsure
    ]
    return " and ".join(texts)


def _padding(fits: Sequence[Fit]) -> int | None:
    """The smallest power of two of which the stored rows are the next multiple; None if there is none."""
    if len(fits) > 1 or len(fits[0]) > 1:
        return None
    (hint,) = fits[0].values()
    if hint.noun != "row" or "vocab" not in hint.key or hint.fits < hint.read:
        return None  # nobody pads positions
    return next((multiple for multiple in _MULTIPLES if round_up(hint.read, multiple) == hint.fits), None)
