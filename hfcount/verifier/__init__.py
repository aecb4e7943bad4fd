"""Compares a blueprint with what is stored, and names the cause of each difference; a file in rules/ for each finding.

Work here on a finding, a check, or a cause.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.fetcher.weights import Weights
from hfcount.formats.index import Index
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Samples
from hfcount.mapper.quantization_config import Announcement
from hfcount.verifier import (
    chat,
    class_names,
    headers,
    loader_conversions,
    loader_differences,
    name_checks,
    rules,
    shard_presence,
    ties,
    token_ids,
    totals,
    unlisted_files,
)
from hfcount.verifier.comparison import Comparison, Evidence
from hfcount.verifier.findings import DIFFERING, PACKED, Outcome
from hfcount.verifier.header_view import merge
from hfcount.verifier.match import Match


def _check_class(c: Comparison, outcome: Outcome) -> None:
    class_names.check_class(c, outcome, verify)


def _check_modules(c: Comparison, outcome: Outcome) -> None:
    from hfcount.verifier import packed_weights  # most checkpoints are not quantised

    packed_weights.check_modules(c, outcome)


def _check_packed_size(c: Comparison, outcome: Outcome) -> None:
    from hfcount.verifier import packed_weights

    packed_weights.check_size(c, outcome)


def _check_packed_tensors(c: Comparison, outcome: Outcome) -> None:
    from hfcount.verifier import packed_weights

    packed_weights.check_tensors(c, outcome)


def _check_processors(c: Comparison, outcome: Outcome) -> None:
    if c.weights.layout.reader == "lerobot":
        from hfcount.verifier import processors  # few checkpoints are policies

        processors.check_processors(c, outcome)


def _check_embedding(c: Comparison, outcome: Outcome) -> None:
    from hfcount.verifier.sentence_transformers import checks as modules  # most checkpoints have none

    modules.check_modules(c, outcome)


# Each check with the evidence it needs; findings are reported in this order: files, names, copies, bytes, claims, keys,
# and then by the checks that rules have in their files.
CHECKS: tuple[tuple[Callable[[Comparison, Outcome], None], set[Evidence]], ...] = (
    (shard_presence.check_absent, {"listing"}),
    (headers.check_files, {"files"}),
    (headers.check_layout, {"files"}),
    (name_checks.check_scheme, {"scheme"}),
    (loader_conversions.check_wrappers, {"names"}),
    (name_checks.check_names, {"names"}),
    (loader_conversions.check_spellings, {"names"}),
    (loader_conversions.check_layouts, {"names"}),
    (loader_conversions.check_untied, {"names"}),
    (name_checks.check_heads, {"names"}),
    (ties.check_copies, {"names"}),
    (loader_differences.check_readers, set()),
    (name_checks.check_buffers, {"names"}),
    (name_checks.check_auxiliary, {"names"}),
    (name_checks.check_towers, {"names"}),
    (_check_modules, {"packed"}),
    (totals.check_total_size, {"dense", "names", "index alone"}),
    (_check_packed_size, {"packed", "index alone"}),
    (shard_presence.check_sizes, {"listing", "names", "index alone"}),
    (unlisted_files.check_beside, {"listing", "index alone"}),
    (headers.check_tensors, {"names", "headers"}),
    (_check_packed_tensors, {"packed", "headers"}),
    (headers.check_bytes, {"headers"}),
    (totals.check_total_parameters, {"names"}),
    (loader_differences.check_moved, set()),
    (class_names.check_model_type, set()),
    (_check_class, set()),
    (name_checks.check_config, set()),
    (token_ids.check_token_ids, set()),
    (token_ids.check_tokenizer, {"listing"}),
    (chat.check_chat, {"listing"}),
    (name_checks.check_defaults, set()),
    (name_checks.check_unread_keys, set()),
    (name_checks.check_beyond, set()),
    # By then it is known what else is wrong.
    (unlisted_files.check_single, {"listing"}),
    (unlisted_files.check_unlisted, {"listing", "files"}),
    (shard_presence.check_parts, {"listing"}),
    (shard_presence.check_pickled, {"listing"}),
    (_check_processors, {"listing"}),
    (_check_embedding, {"modules"}),
)


def verify(
    blueprint: Blueprint,
    index: Index | None = None,
    shards: Mapping[str, Shard] | None = None,
    announced: Sequence[Announcement] = (),
    *,
    match: Match | None = None,
    weights: Weights | None = None,
    beside: Mapping[str, Shard] = MappingProxyType({}),
    samples: Samples = MappingProxyType({}),
    modules: Mapping[str, Shard] = MappingProxyType({}),
) -> Outcome:
    """Runs every check whose evidence is available.

    Args:
        shards: the files that exist, by name; None if the headers were not read.
        announced: the quantisation configs, that of config.json first.
        match: the match of the index's names, if an earlier step has made it.
        weights: which weight files are there, where that is known.
        beside: files outside the index, by name.
        samples: digests of pieces of the files.
        modules: weight files of sentence-transformers modules, by path.
    """
    view = None if shards is None else merge(shards, index)
    comparison = Comparison.of(
        blueprint, index, view, announced, match=match, listing=weights, beside=beside, samples=samples
    )
    if modules:
        comparison = comparison.replace(modules=modules)
    outcome = Outcome(match=None if comparison.packed else comparison.names, packed=comparison.packed)
    for check, needed in CHECKS:
        if needed <= comparison.evidence:
            check(comparison, outcome)
    for file, evidence in rules.checks():
        if evidence <= comparison.evidence:
            import_module(file).check(comparison, outcome)
    return outcome


def explain(
    outcome: Outcome,
    values: Mapping[str, Any],
    blueprint: Blueprint,
    index: Index | None = None,
    shards: Mapping[str, Shard] | None = None,
    announced: Sequence[Announcement] = (),
    *,
    until: float | None = None,
) -> None:
    """Adds the cause to findings about names and shapes, where it is proven; other arguments as for `verify`.

    Args:
        outcome: the result of `verify`.
        values: the config.
        until: deadline of the search, by time.monotonic; None for no limit.
    """
    if any(finding.code in (*DIFFERING, *PACKED) and finding.severity == "error" for finding in outcome.findings):
        from hfcount.verifier import causes  # most checkpoints do not need it

        view = None if shards is None else merge(shards, index)
        comparison = Comparison.of(blueprint, index, view, announced, match=outcome.match)

        def again(other: Blueprint, more: Sequence[Announcement] = announced) -> Outcome:
            return verify(other, index, shards, more)

        causes.explain(comparison, outcome, values, again, until)
