"""Cause: quantisation settings other than those that packed the weights."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, product
from typing import Any

from hfcount.mapper.quantization_config import Announcement, announcements
from hfcount.mapper.whatif import Changes, changed, get, steps
from hfcount.text import shown
from hfcount.verifier.causes.case import Cause, listed, sentence
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import DIFFERING, PACKED, Outcome

CODES = (*DIFFERING, *PACKED, "HF504")
"""Findings that wrong settings may have."""

_VALUES: Mapping[str, Sequence[Any]] = {
    "bits": (4, 8, 2, 3),
    "w_bit": (4, 8, 2, 3),
    "num_bits": (4, 8, 2, 3),
    "group_size": (128, 64, 32, 16, 256, 512, 1024, -1),
    "q_group_size": (128, 64, 32, 16, 256, 512, 1024, -1),
    "strategy": ("group", "channel", "tensor"),
    "weight_block_size": ([128, 128], [64, 64], [32, 32], [16, 16], [256, 256], None),
    "activation_scheme": ("dynamic", "static"),
    "quant_method": ("gptq", "awq"),
}
"""Values to try for each setting."""

_PACKERS = ("gptq", "awq")  # which take one another's settings
_ALONE = 50  # values of all settings that are tried alone
_FEWEST, _WORK = 8, 200_000  # settings that are tried, and tensors that all of these may be compared with in all


def resettled(
    c: Comparison, outcome: Outcome, values: Mapping[str, Any], again: Callable[[Sequence[Announcement]], Outcome]
) -> Cause | None:
    """The settings with which nothing would differ, or how scales are stored otherwise; None if that is not known.

    Args:
        values: the config.
        again: runs all checks with other announcements.
    """
    first = c.announced[0] if c.announced else None
    if first is None or c.view is None or not any(finding.code in CODES for finding in outcome.findings):
        return None
    wrong = frozenset(
        finding.code for finding in outcome.findings if finding.code in CODES and finding.severity == "error"
    )
    most = max(_FEWEST, _WORK // (len(c.view.entries) + 1))
    tried = islice(_tried(values, first.key), most) if first.key and wrong else iter(())
    if "HF201" in wrong and _lacks_module(c, c.view.entries):
        tried = (changes for changes in tried if any(key.endswith("quant_method") for key in changes))
    fits = _fitting(c, values, tried, again)
    if fits:
        return _cause(values, wrong, fits, every=most > _ALONE)
    return _turned(c) if wrong == {"HF301"} else None


def _lacks_module(c: Comparison, stored: Collection[str]) -> bool:
    """Whether a required tensor is of a module of which nothing is stored, which only another method may not need."""
    there = set[str]()
    for name in chain(stored, c.spelling):
        while name and name not in there:
            there.add(name)
            name = name.rpartition(".")[0]
    lacking = (leaf for leaf, count in c.match.listed if count < leaf.count and leaf.presence == "required")
    # What has far more tensors than are stored is not listed name by name.
    few = (leaf for leaf in lacking if leaf.count <= 2 * len(stored))
    return any(name.rpartition(".")[0] not in there for leaf in few for name in leaf.names())


def _fitting(
    c: Comparison,
    values: Mapping[str, Any],
    tried: Iterable[Changes],
    again: Callable[[Sequence[Announcement]], Outcome],
) -> list[Changes]:
    """The changes of as few settings as possible with which nothing would differ."""
    fits: list[Changes] = []
    beside = [announcement for announcement in c.announced if not announcement.key]
    for changes in tried:
        if fits and len(changes) > len(fits[0]):
            break
        announced = announcements(changed(values, changes))
        if announced and _fits(again([*announced, *beside]).findings):
            fits.append(changes)
    return fits


def _fits(findings: Sequence[Finding]) -> bool:
    """Whether weights are stored as the settings say; of what is not described (HF501) nothing is compared."""
    codes = (*CODES, "HF505")
    return not any(
        finding.code == "HF501" or (finding.severity == "error" and finding.code in codes) for finding in findings
    )


def _tried(values: Mapping[str, Any], key: str) -> Iterator[Changes]:
    """Other values of one setting, then of two."""
    around = _get(values, key)
    single = list(_settings(around, f"{key}."))
    for path, others in single:
        yield from ({path: value} for value in others)
    for place, (path, others) in enumerate(single):
        for other, more in single[place + 1 :]:
            yield from ({path: first, other: second} for first, second in product(others, more))


def _settings(around: Any, prefix: str) -> Iterator[tuple[str, list[Any]]]:
    """The settings within an object, each with other values."""
    for name, value in around.items() if isinstance(around, dict) else ():
        if isinstance(value, dict) and name != "extra_config":
            yield from _settings(value, f"{prefix}{name}.")
        elif name in _VALUES and (name != "quant_method" or value in _PACKERS):
            yield f"{prefix}{name}", [other for other in _VALUES[name] if other != value]


def _cause(values: Mapping[str, Any], codes: frozenset[str], fits: Sequence[Changes], every: bool) -> Cause:
    text = "; or, ".join(
        " and ".join(f"{key} is {_shown(_get(values, key))}, but {_shown(new)} would fit" for key, new in fit.items())
        for fit in fits
    )
    advice = ", or ".join(f"set {listed([f'{key} to {_shown(new)}' for key, new in fit.items()])}" for fit in fits)
    lacking = "HF503" in codes or any(key.endswith("activation_scheme") for fit in fits for key in fit)
    if lacking:
        advice = f"add what is missing, or {advice}"
    method = any(key.endswith("quant_method") for key in fits[0])  # which has settings of its own
    return Cause(
        codes, sentence(text), sentence(advice), fits[0], sole=every and len(fits) == 1 and not (lacking or method)
    )


def _turned(c: Comparison) -> Cause | None:
    """All scales that differ in shape are the other way round."""
    odd = []
    for leaf, count in c.match.listed:
        shape = tuple(map(int, leaf.shape))
        for name in c.match.names(leaf) if count and leaf.dtypes is not None else ():
            entry = c.headers.entries.get(c.spelling.get(name, name))
            if entry and entry.shape != shape:
                odd.append(entry.shape == shape[::-1])
    if odd and all(odd):
        text = "they are stored transposed; square ones may be, too"
        return Cause({"HF301"}, sentence(text), "Transpose them.")
    return None


def _get(values: Mapping[str, Any], key: str) -> Any:
    value: Any = values
    for step in steps(key):
        value = get(value, step)
    return value


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, str | list) else shown(value).replace(",", "")
