"""Holds a blueprint against what was published."""

from collections.abc import Callable, Mapping

from hfcount.formats.index import Index
from hfcount.formats.safetensors import Shard
from hfcount.plan import Blueprint
from hfcount.storage.schemes import scheme_of_names
from hfcount.tree.leaves import Finder
from hfcount.verifier import checks, headers
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Outcome
from hfcount.verifier.header_view import merge
from hfcount.verifier.names import Match

# In the order in which a reader wants to know: names, copies, bytes, claims.
INDEX_CHECKS: tuple[Callable[[Comparison, Outcome], None], ...] = (
    checks.check_names,
    checks.check_heads,
    checks.check_copies,
    checks.check_auxiliary,
    checks.check_total_size,
    checks.check_total_parameters,
)


def count_only(blueprint: Blueprint) -> Outcome:
    """Nothing is compared; only what the config itself gives away is reported."""
    outcome = Outcome()
    checks.check_unread_keys(blueprint, outcome)
    return outcome


def verify_index(blueprint: Blueprint, index: Index, scheme: str | None = None) -> Outcome:
    """The index's names and claims against the blueprint, in one pass over the names."""
    outcome = Outcome()
    case = None if scheme else Comparison.of(blueprint, index)
    scheme = scheme or _packed(case)
    if case is None or scheme:
        _report_scheme(blueprint, scheme, outcome)
    else:
        for check in INDEX_CHECKS:
            check(case, outcome)
        outcome.match = case.match
    checks.check_unread_keys(blueprint, outcome)
    return outcome


def verify_headers(
    blueprint: Blueprint,
    index: Index | None,
    shards: Mapping[str, Shard],
    scheme: str | None = None,
    match: Match | None = None,
) -> Outcome:
    """Files, names, shapes, dtypes and bytes, by the headers; `match` is that of the index, where it is known."""
    outcome, seen = Outcome(), merge(shards, index)
    headers.check_files(seen, index, outcome)
    headers.check_layout(seen, index, outcome)
    if index is None and not seen.complete:
        checks.check_unread_keys(blueprint, outcome)
        return outcome  # no index and no header: there are no names to compare
    case = None if scheme else Comparison.of(blueprint, index, seen, match)
    scheme = scheme or _packed(case)
    if case is None or scheme:
        _report_scheme(blueprint, scheme, outcome)
        headers.check_bytes(None, seen, index, outcome)
    else:
        checks.check_names(case, outcome)
        checks.check_heads(case, outcome)
        checks.check_copies(case, outcome)
        checks.check_auxiliary(case, outcome)
        headers.check_tensors(case, seen, outcome)
        headers.check_bytes(case, seen, index, outcome)
        checks.check_total_parameters(case, outcome)
    checks.check_unread_keys(blueprint, outcome)
    return outcome


def _packed(case: Comparison | None) -> str | None:
    """The scheme that names beside the blueprint's give away."""
    if case is None or not case.match.unexpected:
        return None
    find = Finder(case.blueprint.leaves).find
    return scheme_of_names(case.match.unexpected, lambda name: find(name) is not None)


def _report_scheme(blueprint: Blueprint, scheme: str | None, outcome: Outcome) -> None:
    outcome.report(
        "HF501",
        f"the weights are quantised with {scheme}, which is not modelled: the parameters are counted from the config,"
        " and the stored tensors are not held against it. Verify the checkpoint it was made from.",
        count=blueprint.tensor_count,
        parameters=blueprint.total,
        bytes=None,
    )
