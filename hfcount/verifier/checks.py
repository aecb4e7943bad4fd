"""Checks that work on the index or the headers: names, copies, claims, keys."""

from typing import Any

from hfcount.fetcher.interface import CONFIG, INDEX
from hfcount.mapper.reference import version
from hfcount.storage import dtypes
from hfcount.text import plural
from hfcount.verifier import sizes
from hfcount.verifier.accepted import adapter_alone
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Check, Outcome, difference
from hfcount.verifier.folding import fold

TOTAL_SIZE = "metadata.total_size"


def check_scheme(c: Comparison, outcome: Outcome) -> None:
    """HF501, HF504: packed weights of a scheme that is not described, or that nothing announces."""
    if c.announced:
        count, parameters = c.blueprint.tensor_count, c.blueprint.total
        outcome.report("HF501", observed=c.scheme, count=count, parameters=parameters, bytes=None)
    else:
        facts: dict[str, Any] = {"scheme": c.scheme, "packed": True, "bytes": None}
        outcome.report("HF504", observed=c.scheme, key="quantization_config", file=CONFIG, **facts)


def check_names(c: Comparison, outcome: Outcome) -> None:
    """HF201, HF202: the names of the checkpoint against those of the blueprint."""
    match = c.match
    expected = sum(int(leaf.count) for leaf, _ in match.listed if leaf.presence == "required")
    scales = sum(int(leaf.count) for leaf in c.packed.lacking) if c.packed else 0
    lacking, beyond = match.missing_count, len(match.unexpected)
    count, text = expected - lacking + beyond, ""
    if lacking and beyond:
        text = f"{lacking:,} missing, {beyond:,} not described"
    elif match.wrapped:
        text = "under names that a wrapper has changed"
    alike, left = not (text or match.unfinished), sum(int(leaf.count) for leaf in c.packed.left) if c.packed else 0
    if alike and left:
        text = f"the language model alone, as {c.packing.name} converts it, without {plural(left, 'tensor')} of towers"
    outcome.checks.append(Check("tensors", expected + scales, count, text, alike))
    if lacking and not adapter_alone(match):
        width = dtypes.width(c.declared) if c.declared else None
        untied = not match.heads and _untied(c)
        outcome.report(
            "HF201",
            c.subject,
            expected=expected,
            observed=expected - lacking,
            key="tie_word_embeddings" if untied else None,
            file=CONFIG if untied else None,
            tensors=match.missing,
            count=lacking,
            parameters=match.missing_elements,
            bytes=match.missing_elements * width if width else None,
            untied=untied,
            instead=tuple(leaf.name for leaf in match.heads) if match.heads else None,
        )
    if beyond:
        elements, size = c.view.sizes(match.unexpected) if c.view else (None, None)
        outcome.report(
            "HF202",
            c.subject,
            expected=expected,
            observed=expected + beyond,
            tensors=fold(match.unexpected),
            count=beyond,
            parameters=elements,
            bytes=size,
        )


def check_heads(c: Comparison, outcome: Outcome) -> None:
    """HF210: heads that `architectures` does not name."""
    if c.match.heads:
        outcome.report(
            "HF210",
            c.subject,
            observed=tuple(leaf.name for leaf in c.match.heads),
            key="architectures",
            file=CONFIG,
            **c.stored([(leaf, 1) for leaf in c.match.heads]),
        )


def check_buffers(c: Comparison, outcome: Outcome) -> None:
    """HF204: obsolete buffers."""
    found = [(leaf, count) for leaf, count in c.match.extra("legacy") if c.bytes(leaf, count) != 0]
    if found:  # by the headers, too, where they were read
        outcome.report("HF204", observed=found[0][0].name, **c.stored(found))


def check_auxiliary(c: Comparison, outcome: Outcome) -> None:
    """HF201, HF207, HF208: multi-token-prediction layers, which are not part of the model proper."""
    lacking = c.match.unfinished
    if lacking:
        outcome.report(
            "HF201",
            f"a multi-token-prediction layer of {c.subject}",
            expected=lacking.expected,
            observed=lacking.expected - lacking.count,
            tensors=lacking.lacking,
            count=lacking.count,
            parameters=lacking.elements,
            bytes=None,
            begun=True,
        )
    announced = [leaf for leaf, _ in c.match.listed if leaf.part == "prediction"]
    stored = c.match.extra("auxiliary", "auxiliary buffer")
    expected = sum(int(leaf.count) for leaf in announced) if c.blueprint.spec.announces("mtp") else None
    outcome.predicting = bool(stored)
    if lacking:
        return
    if stored:
        outcome.report("HF208", expected=expected, observed=sum(count for _, count in stored), **c.stored(stored))
    elif expected:
        key = c.blueprint.spec.parts["mtp"].count_key
        outcome.report(
            "HF207",
            expected=expected,
            observed=0,
            tensors=[leaf.name for leaf in announced],
            count=expected,
            parameters=sum(leaf.elements for leaf in announced),
            bytes=None,
            key=key,
            file=CONFIG if key else None,
            fix=f"Set {key} to 0, or copy the layers from the base model." if key else "",
            announced="multi-token-prediction layers",
            without="The model proper is complete without, but speculative decoding with them will not work.",
        )


def check_towers(c: Comparison, outcome: Outcome) -> None:
    """HF207: towers that a tool leaves out which converts the language model alone."""
    left = c.packed.left if c.packed and c.match.complete else []
    if left:
        outcome.report(
            "HF207",
            expected=sum(int(leaf.count) for leaf in left),
            observed=0,
            tensors=[leaf.name for leaf in left],
            count=sum(int(leaf.count) for leaf in left),
            parameters=sum(leaf.elements for leaf in left),
            bytes=None,
            announced="towers",
            without=f"{c.packing.name} converts the language model alone, which is complete without them.",
        )


def check_total_parameters(c: Comparison, outcome: Outcome) -> None:
    """HF403: the parameters that the index claims."""
    claim, total = c.index.total_parameters if c.index else None, c.blueprint.total
    total -= sum(leaf.elements for leaf in c.packed.left) if c.packed else 0
    total += sum(leaf.elements for leaf in c.blueprint.leaves if leaf.name in outcome.apart) if claim != total else 0
    if claim is None or c.blueprint.asides:
        return
    outcome.checks.append(Check("total_parameters", total, claim))
    if claim == total or _stored_says(c, claim, outcome):
        return
    leaves = c.blueprint.leaves
    tied = sum(leaf.elements for leaf in leaves if leaf.label == "tied")
    buffers = sum(leaf.elements for leaf in leaves if leaf.label == "buffer")
    vectors = sum(leaf.elements for leaf in leaves if leaf.counted and len(leaf.shape) == 1)
    # The simplest reason last, so that it wins if two have the same value.
    reasons = {vectors: "vectors", total + tied + buffers: "both", total + buffers: "buffers", total + tied: "tied"}
    reason: dict[str, Any] = {reasons[claim]: True} if claim in reasons else difference(claim, total)
    outcome.report(
        "HF403",
        expected=total,
        observed=claim,
        key="metadata.total_parameters",
        file=INDEX,
        parameters=abs(claim - total),
        fix=f"Set it to {total:,}, or drop it.",
        **reason,
        shown=claim < total,  # it takes the smaller of this and its own sum
    )


def check_config(c: Comparison, outcome: Outcome) -> None:
    """HF103: contradictions in the config that no tensor shows; of a model that is loaded all the same, a note."""
    for one in c.blueprint.problems:
        outcome.report(
            one.code,
            severity="note" if one.built else None,
            expected=one.expected,
            observed=one.observed,
            key=one.key,
            file=CONFIG,
            fix=one.fix,
            said=one.said,
        )


def check_defaults(c: Comparison, outcome: Outcome) -> None:
    """HF106: keys that the config lacks, and what was counted with in their place."""
    taken = c.blueprint.assumed_defaults
    if taken:
        said = tuple(f"{name} {value:,}" if type(value) is int else f"{name} {value}" for name, value in taken.items())
        outcome.report(
            "HF106", c.blueprint.spec.family, observed=said, key=next(iter(taken)), file=CONFIG, version=version()
        )


def _stored_says(c: Comparison, claim: int, outcome: Outcome) -> bool:
    """Whether the claim fits what is stored, where that is not what the config says: then it is no finding of its own.

    Of an index alone, the elements of unexpected tensors are unknown, and so is what it should claim.
    """
    if outcome.has("HF213", "HF112") and (copies := c.match.extra("tied")):
        return claim == c.blueprint.total + sum(leaf.elements for leaf, _ in copies)
    if not outcome.has("HF201", "HF202", "HF301"):
        return False
    if c.view is None:
        return bool(c.match.unexpected) or claim == c.match.weights
    stored = c.view.elements
    constants = sum(count * leaf.size for leaf, count in c.match.listed if leaf.kind == "buffer" or leaf.tied_to)
    unexpected, _ = c.view.sizes(c.match.unexpected)  # some of which may be constants, too
    return sum(stored.values()) - constants - unexpected <= claim <= sum(stored.values())


def check_unread_keys(c: Comparison, outcome: Outcome) -> None:
    """HF102: keys that may change the model and that the family did not read."""
    unread = c.blueprint.unread
    if unread:
        outcome.report("HF102", c.blueprint.spec.family, observed=unread, key=unread[0], file=CONFIG)


def check_total_size(c: Comparison, outcome: Outcome) -> None:
    """HF302, HF401, HF402 at depth index: the bytes that the index claims, against the blueprint's."""
    match, claim = c.match, c.index.total_size if c.index else None
    if not claim:
        report_no_total_size(claim, outcome)
        return
    if c.blueprint.asides:
        return  # the claim includes parts of unknown size
    if c.reading is not None:
        _accept(c, c.reading, claim, outcome)
        return
    width, buffers = dtypes.width(c.declared) if c.declared else 2, match.buffers + match.flags
    elements, expected = match.weights + buffers, match.weights * width + buffers * 4
    listed = f"{elements:,} elements listed"
    outcome.proven = not match.unexpected  # the bytes were compared, and differ
    if match.missing_count and sizes.exact(
        claim, match.weights + match.missing_elements, match.buffers, c.declared, match.flags
    ):
        listed += f", and the {match.missing_elements:,} missing make up the rest"
    elif claim == c.weights.bytes:
        listed += ", and the claim is the sum of the file sizes, headers included"
        report_total_size(claim, expected, outcome, headers=True, files=True)
    elif match.unexpected and claim >= expected:
        listed += f", and {plural(len(match.unexpected), 'tensor')} of unknown size"
    else:  # either the index or the config is wrong, so there is no fix to suggest
        report_total_size(claim, expected, outcome, fix=None, elements=elements, width=width)
    outcome.checks.append(Check("total_size", expected, claim, listed))


def report_total_size(claim: int, expected: int, outcome: Outcome, fix: str | None = "", **facts: Any) -> None:
    """HF401."""
    facts |= difference(claim, expected) | {"bytes": abs(claim - expected)}
    outcome.report("HF401", expected=expected, observed=claim, key=TOTAL_SIZE, file=INDEX, fix=fix, **facts)


def report_no_total_size(claim: int | None, outcome: Outcome) -> None:
    """HF402."""
    outcome.report("HF402", observed=claim, key=TOTAL_SIZE, file=INDEX, zero=claim == 0, absent=claim is None)


def _accept(c: Comparison, reading: sizes.Reading, claim: int, outcome: Outcome) -> None:
    text = str(reading)
    if c.declared is None:
        text += ", the width that makes it exact, since the config names no dtype"
    outcome.checks.append(Check("total_size", claim, claim, text))
    own = dtypes.width(c.declared) if c.declared else reading.width
    outcome.proven = reading.width == own  # else the claim may be as wrong as the dtype
    outcome.settled = outcome.proven and c.match.complete
    outcome.stored, outcome.dtypes = reading.elements, reading.by_dtype
    if reading.width != own:
        outcome.report(
            "HF302",
            expected=c.declared,
            observed=reading.dtype,
            key="dtype",
            file=CONFIG,
            parameters=reading.weights,
            bytes=reading.weights * reading.width,
            fix=None,
            declared=c.blueprint.spec.dtype,
            own=own,
            claim=claim,
            width=reading.width,
        )


def _untied(c: Comparison) -> bool:
    """Whether nothing is missing but a head that the embedding may share."""
    heads = {leaf.name for leaf, _ in c.match.listed if leaf.component == "lm_head" and leaf.counted}
    return heads.issuperset(c.match.missing) and not c.blueprint.spec.tied
