"""Holds a blueprint against what was published."""

from hfcount.measures import Blueprint
from hfcount.verifier.checks import CHECKS, Case, unread_keys
from hfcount.verifier.evidence import Index
from hfcount.verifier.findings import Outcome


def count_only(plan: Blueprint) -> Outcome:
    """Nothing is compared; only what the config itself gives away is reported."""
    outcome = Outcome()
    unread_keys(plan, outcome)
    return outcome


def verify_index(plan: Blueprint, index: Index) -> Outcome:
    """The index's names and claims against the blueprint, in one pass over the names."""
    outcome, case = Outcome(), Case.of(plan, index)
    for check in CHECKS:
        check(case, outcome)
    return outcome


def unmodelled(plan: Blueprint, scheme: str) -> Outcome:
    """Weights packed by a scheme that is not modelled: counted, not verified."""
    outcome = Outcome()
    outcome.report(
        "HF501",
        f"the weights are quantised with {scheme}, which is not modelled: the parameters are counted from the config,"
        " and the stored tensors are not held against it. Verify the checkpoint it was made from.",
        count=plan.tensor_count,
        parameters=plan.total,
        bytes=None,
    )
    unread_keys(plan, outcome)
    return outcome
