"""The checks at depth `index`, in the order in which a reader wants to know: names, bytes, claims, keys."""

from collections.abc import Callable
from dataclasses import dataclass

from hfcount.measures import Blueprint
from hfcount.storage import dtypes
from hfcount.text import plural, printable
from hfcount.verifier import names, sizes
from hfcount.verifier.evidence import Index
from hfcount.verifier.findings import Check, Outcome, fold


@dataclass(frozen=True, slots=True)
class Case:
    """One checkpoint before the checks: what it must hold, what it lists, and how the names match."""

    plan: Blueprint
    index: Index
    match: names.Match
    declared: str | None
    reading: sizes.Reading | None

    @classmethod
    def of(cls, plan: Blueprint, index: Index) -> "Case":
        """Matches the names, and reads the bytes where every listed tensor is known."""
        match, declared = names.match(plan.leaves, index.weight_map), dtypes.code(plan.spec.dtype)
        reading = None
        if index.total_size and not match.unexpected:
            reading = sizes.exact(index.total_size, match.weights, match.buffers, declared)
        return cls(plan, index, match, declared, reading)

    def bytes(self, elements: int, kind: str = "parameter") -> int | None:
        """The size of so many elements of a kind, where their width is known."""
        if self.reading is not None:
            return elements * (self.reading.buffer_width if kind in names.BUFFERS else self.reading.width)
        return elements * dtypes.width(self.declared) if self.declared and kind not in names.BUFFERS else None


def check_names(case: Case, outcome: Outcome) -> None:
    """HF201, HF202, HF209: the names of the index against those of the blueprint."""
    match, index = case.match, case.index
    expected = sum(int(leaf.count) for leaf, _ in match.listed if leaf.kind in ("parameter", "buffer"))
    present = expected - match.missing_count + len(match.unexpected)
    outcome.checks.append(Check("tensors", expected, present))
    if match.missing_count:
        outcome.report(
            "HF201",
            f"the index lacks {plural(match.missing_count, 'tensor')} of the {expected:,} that"
            f" {_config_of(case.plan)} describes: {_first(match.missing)}. Upload what is missing, or correct the"
            " config.",
            match.missing,
            match.missing_count,
            match.missing_elements,
            case.bytes(match.missing_elements),
        )
    if match.unexpected:
        rows = fold(match.unexpected)
        outcome.report(
            "HF202",
            f"the index lists {plural(len(match.unexpected), 'tensor')} of {len(index.weight_map):,} that"
            f" {_config_of(case.plan)} does not describe: {_first(rows)}. Correct the config, or drop them.",
            rows,
            len(match.unexpected),
            None,
            None,
        )
    if match.renamed:
        found, wanted = match.renamed[0]
        outcome.report(
            "HF209",
            f"{plural(len(match.renamed), 'name')} differ from {_config_of(case.plan)} in their prefix alone, such as"
            f" {_first([found])} for {wanted}. Loaders that know the prefix accept it.",
            fold(found for found, _ in match.renamed),
            len(match.renamed),
        )


def check_copies(case: Case, outcome: Outcome) -> None:
    """HF203, HF204: what is stored beyond the parameters, and harmless."""
    for kind, code in (("tied", "HF203"), ("legacy", "HF204")):
        found = case.match.of_kind(kind)
        if not found:
            continue
        count = sum(count for _, count in found)
        elements = sum(count * leaf.size for leaf, count in found)
        tied = found[0][0].to
        what = f"a copy of {tied}, which tie_word_embeddings shares" if tied else "written by earlier versions alone"
        outcome.report(
            code,
            f"{plural(count, 'tensor')} of {plural(elements, 'element')} in all, {what}: {_first([found[0][0].name])}."
            " They are no parameters of their own.",
            [leaf.name for leaf, _ in found],
            count,
            elements,
            case.bytes(elements, kind),
        )


def check_total_size(case: Case, outcome: Outcome) -> None:
    """HF302, HF401, HF402: the bytes that the index claims."""
    match, claim = case.match, case.index.total_size
    if not claim:
        outcome.report(
            "HF402",
            f"the index gives {'0 for' if claim == 0 else 'no'} metadata.total_size, so it does not say how many bytes"
            " its tensors have. Write it again with total_size.",
        )
        return
    if case.reading is not None:
        _accept(case, outcome, case.reading)
        return
    width = dtypes.width(case.declared) if case.declared else 2
    expected = match.weights * width + match.buffers * 4
    listed = f"{match.weights + match.buffers:,} elements listed"
    if match.missing_count and sizes.exact(claim, match.weights + match.missing_elements, match.buffers, case.declared):
        listed += f", and the {match.missing_elements:,} missing make up the rest"
    elif match.unexpected and claim > expected:
        listed += f", and {plural(len(match.unexpected), 'tensor')} of unknown size"
    else:
        _differs(claim, expected, match.weights + match.buffers, width, outcome)
    outcome.checks.append(Check("total_size", expected, claim, listed))
    outcome.proven = True  # the bytes were compared, and differ


def _differs(claim: int, expected: int, elements: int, width: int, outcome: Outcome) -> None:
    outcome.report(
        "HF401",
        f"metadata.total_size is {claim:,} bytes, and the {elements:,} elements listed have {expected:,} bytes"
        f" at {plural(width, 'byte')} each: {abs(claim - expected):,} {'more' if claim > expected else 'fewer'} are"
        " claimed, and no other width accounts for them. Either the index is stale or the config is of another size.",
        bytes=abs(claim - expected),
    )


def check_total_parameters(case: Case, outcome: Outcome) -> None:
    """HF403: the parameters that the index claims."""
    claim, total = case.index.total_parameters, case.plan.total
    if claim is None:
        return
    outcome.checks.append(Check("total_parameters", total, claim))
    if claim == total:
        return
    leaves = case.plan.leaves
    tied = sum(leaf.elements for leaf in leaves if leaf.kind == "tied")
    buffers = sum(leaf.elements for leaf in leaves if leaf.kind == "buffer")
    flat = sum(leaf.elements for leaf in leaves if leaf.kind == "parameter" and len(leaf.shape) == 1)
    reasons = {
        total + tied: "it counts the tied head twice",
        total + buffers: "it counts buffers, too",
        total + tied + buffers: "it counts the tied head twice, and buffers",
        flat: "it counts vectors alone, which is what one rank held of partitioned (ZeRO-3) weights",
    }
    outcome.report(
        "HF403",
        f"metadata.total_parameters is {claim:,}, and the model has {total:,} parameters"
        f" ({reasons.get(claim, f'{claim - total:+,}')}). Write the index again, or drop the number.",
        parameters=abs(claim - total),
    )


def check_unread_keys(case: Case, outcome: Outcome) -> None:
    """HF102: keys that may change the model and that nobody read."""
    unread_keys(case.plan, outcome)


CHECKS: tuple[Callable[[Case, Outcome], None], ...] = (
    check_names,
    check_copies,
    check_total_size,
    check_total_parameters,
    check_unread_keys,
)


def unread_keys(plan: Blueprint, outcome: Outcome) -> None:
    """HF102, which needs no evidence."""
    if plan.unread:
        outcome.report(
            "HF102",
            f"{plan.spec.family} does not read {', '.join(plan.unread)}. If one of them changes the model, the count"
            " is off.",
        )


def _accept(case: Case, outcome: Outcome, reading: sizes.Reading) -> None:
    claim = case.index.total_size or 0
    text = str(reading)
    if case.declared is None:
        text += ", the width that makes it exact, since the config names no dtype"
    outcome.checks.append(Check("total_size", claim, claim, text))
    outcome.proven = True
    outcome.stored, outcome.dtypes = reading.weights + reading.buffers, reading.by_dtype
    own = dtypes.width(case.declared) if case.declared else reading.width
    if reading.width != own:
        outcome.report(
            "HF302",
            f"the config declares {case.plan.spec.dtype} ({plural(own, 'byte')} an element), and total_size {claim:,}"
            f" is exact at {plural(reading.width, 'byte')} an element. Set dtype to what is stored.",
            parameters=reading.weights,
            bytes=reading.weights * reading.width,
        )


def _config_of(plan: Blueprint) -> str:
    return plan.spec.architecture or plan.spec.family


def _first(rows: list[str]) -> str:
    shown = ", ".join(printable(row, 120) for row in rows[:3])
    return shown + (f" and {len(rows) - 3:,} more rows" if len(rows) > 3 else "")
