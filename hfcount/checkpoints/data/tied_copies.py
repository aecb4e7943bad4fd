"""Copies of tied weights that differ where no sample was taken."""

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
    found: list[TiedCopyDiffers] = []
    apart: set[str] = set()
    if match is None or not outcome.has("HF203"):
        return [], frozenset()
    for one, other in _pairs(match, subjects):
        values, first = elements_differing(source, one.place, other.place)
        if values:
            facts = {"expected": other.name, "values": values, "index": index_of(first, one.shape)}
            found += reported(TiedCopyDiffers, [one], facts)
            apart.add(one.leaf.name if one.leaf else one.name)
    return found, frozenset(apart)


def _pairs(match: Match, subjects: Subjects) -> list[tuple[Subject, Subject]]:
    """The tied tensors that are stored beside those that they are tied to, where both are alike in kind."""
    spelling = match.spelling
    pairs = []
    for leaf, _ in match.extra("tied"):
        for name in match.names(leaf):
            one = subjects.by_name.get(spelling.get(name, name))
            to = leaf.tied_to or ""
            other = subjects.by_name.get(spelling.get(to, to))
            if one and other and one.place.entry[:2] == other.place.entry[:2]:
                pairs.append((one, other))
    return pairs
