"""Checks that work on the index or the headers: names, copies, claims, keys."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hfcount.fetcher.interface import CONFIG, INDEX
from hfcount.mapper.reference import version
from hfcount.storage import dtypes
from hfcount.text import plural
from hfcount.tree.leaves import Leaf
from hfcount.verifier import sizes
from hfcount.verifier.accepted import adapter_alone
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Check, Outcome, Stored, finding_of
from hfcount.verifier.folding import fold

if TYPE_CHECKING:
    from hfcount.verifier.prediction import Unfinished

TOTAL_SIZE = "metadata.total_size"


def check_scheme(c: Comparison, outcome: Outcome) -> None:
    """HF501, HF504: packed weights of a scheme that is not described, or that nothing announces."""
    assert c.scheme is not None
    if c.announced:
        from hfcount.verifier.rules.hf501_unmodelled_storage import UnmodelledStorage

        count, parameters = c.blueprint.tensor_count, c.blueprint.total
        outcome.report(UnmodelledStorage(observed=c.scheme, count=count, parameters=parameters, bytes=None))
    else:
        from hfcount.verifier.rules.hf504_quantization_config_stale import Unannounced

        outcome.report(Unannounced(observed=c.scheme, key="quantization_config", file=CONFIG, bytes=None))


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
        _report_missing(c, expected, outcome)
    if beyond:
        _report_unexpected(c, expected, outcome)


def _report_missing(c: Comparison, expected: int, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf201_missing_tensor import MissingTensor

    match, width = c.match, dtypes.width(c.declared) if c.declared else None
    untied = not match.heads and _untied(c)
    outcome.report(
        MissingTensor(
            subject=c.subject,
            expected=expected,
            observed=expected - match.missing_count,
            key="tie_word_embeddings" if untied else None,
            file=CONFIG if untied else None,
            tensors=tuple(match.missing),
            count=match.missing_count,
            parameters=match.missing_elements,
            bytes=match.missing_elements * width if width else None,
            untied=untied,
            instead=tuple(leaf.name for leaf in match.heads),
        )
    )


def _report_unexpected(c: Comparison, expected: int, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf202_unexpected_tensor import UnexpectedTensor

    names = c.match.unexpected
    elements, size = c.view.sizes(names) if c.view else (None, None)
    outcome.report(
        UnexpectedTensor(
            subject=c.subject,
            expected=expected,
            observed=expected + len(names),
            tensors=tuple(fold(names)),
            count=len(names),
            parameters=elements,
            bytes=size,
        )
    )


def check_heads(c: Comparison, outcome: Outcome) -> None:
    """HF210: heads that `architectures` does not name."""
    if c.match.heads:
        from hfcount.verifier.rules.hf210_other_head_stored import OtherHeadStored

        names, stored = tuple(leaf.name for leaf in c.match.heads), c.stored([(leaf, 1) for leaf in c.match.heads])
        outcome.report(OtherHeadStored(subject=c.subject, observed=names, key="architectures", file=CONFIG, **stored))


def check_buffers(c: Comparison, outcome: Outcome) -> None:
    """HF204: obsolete buffers."""
    found = [(leaf, count) for leaf, count in c.match.extra("legacy") if c.bytes(leaf, count) != 0]
    if found:  # by the headers, too, where they were read
        from hfcount.verifier.rules.hf204_buffer_stored import BufferStored

        outcome.report(BufferStored(observed=found[0][0].name, **c.stored(found)))


def check_auxiliary(c: Comparison, outcome: Outcome) -> None:
    """HF201, HF207, HF208: multi-token-prediction layers, which are not part of the model proper."""
    stored = c.match.extra("auxiliary", "auxiliary buffer")
    outcome.predicting = bool(stored)
    if c.match.unfinished:
        _report_unfinished(c, c.match.unfinished, outcome)
        return
    announced = [leaf for leaf, _ in c.match.listed if leaf.part == "prediction"]
    expected = sum(int(leaf.count) for leaf in announced) if c.blueprint.spec.announces("mtp") else None
    if stored:
        from hfcount.verifier.rules.hf208_auxiliary_stored import AuxiliaryStored

        observed = sum(count for _, count in stored)
        outcome.report(AuxiliaryStored(expected=expected, observed=observed, **c.stored(stored)))
    elif expected:
        from hfcount.verifier.rules.hf207_auxiliary_absent import AuxiliaryAbsent

        key = c.blueprint.spec.part("mtp").count_key
        fix = f"Set {key} to 0, or copy the layers from the base model." if key else AuxiliaryAbsent.remedy
        outcome.report(
            AuxiliaryAbsent(
                **_absent(announced),
                expected=expected,
                observed=0,
                key=key,
                file=CONFIG if key else None,
                fix=fix,
                announced="multi-token-prediction layers",
                without="The model proper is complete without, but speculative decoding with them will not work.",
            )
        )


def _report_unfinished(c: Comparison, lacking: "Unfinished", outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf201_missing_tensor import MissingTensor

    outcome.report(
        MissingTensor(
            subject=f"a multi-token-prediction layer of {c.subject}",
            expected=lacking.expected,
            observed=lacking.expected - lacking.count,
            tensors=tuple(lacking.lacking),
            count=lacking.count,
            parameters=lacking.elements,
            bytes=None,
            begun=True,
        )
    )


def _absent(leaves: Sequence[Leaf]) -> Stored:
    """What a finding says of tensors that are described and not stored."""
    return {
        "tensors": tuple(leaf.name for leaf in leaves),
        "count": sum(int(leaf.count) for leaf in leaves),
        "parameters": sum(leaf.elements for leaf in leaves),
        "bytes": None,
    }


def check_towers(c: Comparison, outcome: Outcome) -> None:
    """HF207: towers that a tool leaves out which converts the language model alone."""
    left = c.packed.left if c.packed and c.match.complete else []
    if left:
        from hfcount.verifier.rules.hf207_auxiliary_absent import AuxiliaryAbsent

        without = f"{c.packing.name} converts the language model alone, which is complete without them."
        absent = _absent(left)
        outcome.report(
            AuxiliaryAbsent(**absent, expected=absent["count"], observed=0, announced="towers", without=without)
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
    _report_parameters(c, claim, total, outcome)


def _report_parameters(c: Comparison, claim: int, total: int, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf403_total_parameters_differs import Reason, TotalParametersDiffers

    leaves = c.blueprint.leaves
    tied = sum(leaf.elements for leaf in leaves if leaf.label == "tied")
    buffers = sum(leaf.elements for leaf in leaves if leaf.label == "buffer")
    vectors = sum(leaf.elements for leaf in leaves if leaf.counted and len(leaf.shape) == 1)
    # The simplest reason last, so that it wins if two have the same value.
    reasons: dict[int, Reason] = {
        vectors: "vectors",
        total + tied + buffers: "both",
        total + buffers: "buffers",
        total + tied: "tied",
    }
    outcome.report(
        TotalParametersDiffers(
            expected=total,
            observed=claim,
            key="metadata.total_parameters",
            file=INDEX,
            parameters=abs(claim - total),
            fix=f"Set it to {total:,}, or drop it.",
            reason=reasons.get(claim),
        )
    )


def check_config(c: Comparison, outcome: Outcome) -> None:
    """HF103: contradictions in the config that no tensor shows; of a model that is loaded all the same, a note."""
    for problem in c.blueprint.problems:
        outcome.report(finding_of(problem, CONFIG))


def check_defaults(c: Comparison, outcome: Outcome) -> None:
    """HF106: keys that the config lacks, and what was counted with in their place."""
    taken = c.blueprint.assumed_defaults
    if taken:
        from hfcount.verifier.rules.hf106_default_taken import DefaultTaken

        keys = tuple(f"{name} {value:,}" if type(value) is int else f"{name} {value}" for name, value in taken.items())
        outcome.report(
            DefaultTaken(
                subject=c.blueprint.spec.family, observed=keys, key=next(iter(taken)), file=CONFIG, version=version()
            )
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
        from hfcount.verifier.rules.hf102_unread_key import UnreadKey

        outcome.report(UnreadKey(subject=c.blueprint.spec.family, observed=unread, key=unread[0], file=CONFIG))


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
        report_total_size(claim, expected, outcome, files=True)
    elif match.unexpected and claim >= expected:
        listed += f", and {plural(len(match.unexpected), 'tensor')} of unknown size"
    else:  # either the index or the config is wrong, so there is no fix to suggest
        report_total_size(claim, expected, outcome, fix=None, elements=elements, width=width)
    outcome.checks.append(Check("total_size", expected, claim, listed))


def report_total_size(claim: int, expected: int, outcome: Outcome, **values: Any) -> None:
    """HF401; `values` are further arguments of its finding."""
    from hfcount.verifier.rules.hf401_total_size_differs import TotalSizeDiffers

    values = {"key": TOTAL_SIZE, "file": INDEX, "bytes": abs(claim - expected), **values}
    outcome.report(TotalSizeDiffers(expected=expected, observed=claim, **values))


def report_no_total_size(claim: int | None, outcome: Outcome) -> None:
    """HF402."""
    from hfcount.verifier.rules.hf402_total_size_missing import TotalSizeMissing

    outcome.report(TotalSizeMissing(observed=claim, key=TOTAL_SIZE, file=INDEX))


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
        from hfcount.verifier.rules.hf302_dtype_differs import ByClaim

        outcome.report(
            ByClaim(
                expected=c.declared or "",
                observed=reading.dtype,
                key="dtype",
                file=CONFIG,
                parameters=reading.weights,
                bytes=reading.weights * reading.width,
                fix=None,
                declared=c.blueprint.spec.dtype or "",
                own=own,
                claim=claim,
                width=reading.width,
            )
        )


def _untied(c: Comparison) -> bool:
    """Whether nothing is missing but a head that the embedding may share."""
    heads = {leaf.name for leaf, _ in c.match.listed if leaf.component == "lm_head" and leaf.counted}
    return heads.issuperset(c.match.missing) and not c.blueprint.spec.tied
