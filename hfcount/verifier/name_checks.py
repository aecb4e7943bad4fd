"""Checks the names of tensors, tensors stored besides the model, and keys of the config that nobody reads."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hfcount.fetcher.interface import PROCESSORS
from hfcount.fetcher.layout import CONFIG
from hfcount.formats import dtypes
from hfcount.mapper.class_defaults import is_of_diffusers, version
from hfcount.spec.tree.leaves import Leaf
from hfcount.text import plural
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Check, Outcome, TensorFacts, finding_of
from hfcount.verifier.folded_names import fold
from hfcount.verifier.loader_conversions import adapter_alone

if TYPE_CHECKING:
    from hfcount.verifier.finding import Severity
    from hfcount.verifier.match import Unfinished


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
        text = f"{lacking:,} missing, {beyond:,} unexpected"
    elif match.wrapped:
        text = "under names that a wrapper has changed"
    alike, left = not (text or match.unfinished), sum(int(leaf.count) for leaf in c.packed.left) if c.packed else 0
    if alike and left:
        text = f"only the language model, as {c.packing.name} converts it, without {plural(left, 'tensor')} of towers"
    outcome.checks.append(Check("tensors", expected + scales, count, text, alike))
    if lacking and not adapter_alone(match):
        _report_missing(c, expected, outcome)
    if beyond:
        unknown = _beyond_statistics(c, outcome)
        if unknown:
            _report_unexpected(c, unknown, expected, outcome)


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


def _beyond_statistics(c: Comparison, outcome: Outcome) -> Sequence[str]:
    """HF845: the unexpected names, without the normalisation statistics of a policy, which are reported here."""
    names = c.match.unexpected
    if c.weights.layout.reader != "lerobot":
        return names
    from hfcount.verifier.rules.hf845_normalization_dropped import PREFIXES, NormalizationDropped

    statistics = [name for name in names if name.startswith(PREFIXES)]
    if statistics:
        beside = set(PROCESSORS) <= set(c.weights.files)
        level: Severity = "note" if beside else "error"
        outcome.report(
            NormalizationDropped(
                severity=level,
                fix=None if beside else NormalizationDropped.remedy,
                tensors=tuple(fold(statistics)),
                count=len(statistics),
                beside=beside,
            )
        )
    return [name for name in names if name not in statistics]


def _report_unexpected(c: Comparison, names: Sequence[str], expected: int, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf202_unexpected_tensor import UnexpectedTensor

    elements, size = c.view.sizes(names) if c.view else (None, None)
    outcome.report(
        UnexpectedTensor(
            severity="note" if _ignored(c, names) else "error",
            subject=c.subject,
            expected=expected,
            observed=expected + len(names),
            tensors=tuple(fold(names)),
            count=len(names),
            parameters=elements,
            bytes=size,
        )
    )


def _ignored(c: Comparison, names: Sequence[str]) -> bool:
    """Whether the library ignores these tensors: timm some, and diffusers those of no further layer of the model."""
    if c.blueprint.spec.family == "timm":
        from hfcount.architectures.models.timm import drops

        return drops(c.blueprint.spec, names)
    if not is_of_diffusers(c.blueprint.spec.family):
        return False
    known = {_unnumbered(".".join(map(str, leaf.segments))) for leaf in c.blueprint.leaves}
    return known.isdisjoint(map(_unnumbered, names))


def _unnumbered(name: str) -> str:
    return re.sub(r"(?<=\.)(\d[^.]*)(?=\.)", "#", name)


def check_heads(c: Comparison, outcome: Outcome) -> None:
    """HF210: heads that `architectures` does not name."""
    if c.match.heads:
        from hfcount.verifier.rules.hf210_other_head_stored import OtherHeadStored

        names, stored = tuple(leaf.name for leaf in c.match.heads), c.stored([(leaf, 1) for leaf in c.match.heads])
        outcome.report(OtherHeadStored(subject=c.subject, observed=names, key="architectures", file=CONFIG, **stored))


def check_buffers(c: Comparison, outcome: Outcome) -> None:
    """HF204: obsolete buffers."""
    stored = [(leaf, count) for leaf, count in c.match.extra("legacy") if c.bytes(leaf, count) != 0]
    if stored:  # by the headers, too, where they were read
        from hfcount.verifier.loaders.labels import reader_of
        from hfcount.verifier.rules.hf204_buffer_stored import BufferStored

        outcome.report(BufferStored(observed=stored[0][0].name, **c.stored(stored), reader=reader_of(c)))


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
                without="The model itself is complete, but speculative decoding with these layers does not work.",
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


def _absent(leaves: Sequence[Leaf]) -> TensorFacts:
    """The facts of tensors that are described and not stored."""
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

        without = f"{c.packing.name} converts only the language model, which is complete without them."
        absent = _absent(left)
        outcome.report(
            AuxiliaryAbsent(**absent, expected=absent["count"], observed=0, announced="towers", without=without)
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


def check_beyond(c: Comparison, outcome: Outcome) -> None:
    """HF120: sizes beyond those that a recorded type was probed with."""
    beyond = c.blueprint.beyond
    if beyond:
        from hfcount.verifier.rules.hf120_beyond_probes import BeyondProbes

        outcome.report(
            BeyondProbes(
                subject=c.blueprint.spec.family,
                observed=beyond,
                version=c.blueprint.recorded_from,
                key=beyond[0].partition(" ")[0],
                file=CONFIG,
            )
        )


def check_unread_keys(c: Comparison, outcome: Outcome) -> None:
    """HF102: keys that may change the model and that the family did not read."""
    unread = c.blueprint.unread
    if unread:
        from hfcount.verifier.rules.hf102_unread_key import UnreadKey

        outcome.report(UnreadKey(subject=c.blueprint.spec.family, observed=unread, key=unread[0], file=CONFIG))


def _untied(c: Comparison) -> bool:
    """Whether nothing is missing but a head that the embedding may share."""
    heads = {leaf.name for leaf, _ in c.match.listed if leaf.component == "lm_head" and leaf.counted}
    return heads.issuperset(c.match.missing) and not c.blueprint.spec.tied
