"""Finds tied copies that differ outside the sampled bytes."""

from hfcount.checkpoints.data.findings import reported
from hfcount.checkpoints.data.source import Source, elements_differing
from hfcount.checkpoints.data.subjects import Subject, Subjects
from hfcount.verifier.findings import Outcome
from hfcount.verifier.match import Match
from hfcount.verifier.rules.hf904_tied_copy_differs import TiedCopyDiffers
from hfcount.verifier.values import index_of


def differing(subjects: Subjects, source: Source, outcome: Outcome) -> tuple[list[TiedCopyDiffers], frozenset[str]]:
    """The findings about copies whose beginnings and ends were the same, and the names of their leaves."""
    match = outcome.packed.match if outcome.packed else outcome.match
    findings: list[TiedCopyDiffers] = []
    apart: set[str] = set()
    if match is None or not outcome.has("HF203"):
        return [], frozenset()
    for copy, other in _pairs(match, subjects):
        values, first = elements_differing(source, copy.place, other.place)
        if values:
            facts = {"expected": other.name, "values": values, "index": index_of(first, copy.shape)}
            findings += reported(TiedCopyDiffers, [copy], facts)
            apart.add(copy.leaf.name if copy.leaf else copy.name)
    return findings, frozenset(apart)


def _pairs(match: Match, subjects: Subjects) -> list[tuple[Subject, Subject]]:
    """The tied tensors that are stored beside those that they are tied to, where both are alike in kind."""
    spelling = match.spelling
    pairs = []
    for leaf, _ in match.extra("tied"):
        for name in match.names(leaf):
            copy = subjects.by_name.get(spelling.get(name, name))
            to = leaf.tied_to or ""
            other = subjects.by_name.get(spelling.get(to, to))
            if copy and other and copy.place.entry[:2] == other.place.entry[:2]:
                pairs.append((copy, other))
    return pairs
