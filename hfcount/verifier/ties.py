"""Checks whether stored copies of tied weights are equal, by their first and last bytes."""

from collections.abc import Iterator, Mapping
from typing import Literal

from hfcount.fetcher.layout import CONFIG
from hfcount.formats.safetensors import Entry, Shard
from hfcount.formats.samples import Piece
from hfcount.mapper.loader_differences import own_head
from hfcount.spec.tree.leaves import Leaf
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Outcome

PAGE = 65_536
"""Bytes that are compared at either end of a tensor."""

_BESIDE = 3  # tensors of another file that are compared
_MOST = 4  # copies that are compared: more than any architecture ties

CopyState = Literal["alike", "differing", "unknown"]


def check_copies(c: Comparison, outcome: Outcome) -> None:
    """HF203, HF213: tied weights that are stored beside the one that they are tied to."""
    groups: dict[CopyState, list[tuple[Leaf, int]]] = {}
    for leaf, count in c.match.extra("tied"):
        if leaf in c.match.stand_ins or c.bytes(leaf, count) == 0:  # by the headers, where they were read
            continue
        pairs = [pair for name in c.match.names(leaf) for pair in _pieces(c, name, leaf.tied_to or "")]
        if len(pairs) <= 2 * _MOST:
            outcome.pieces += [piece for pair in pairs for piece in pair if piece not in c.samples]
        state: CopyState = "differing" if _differ_in_shape(c, leaf) else _state(c, pairs)
        groups.setdefault(state, []).append((leaf, count))
    if not (c.packed and c.packed.scheme.foreign):
        outcome.untied = frozenset(leaf.name for leaf, _ in groups.get("differing", ()))
    for state, copies in groups.items():
        if state == "differing" and own_head(c.blueprint.ties_otherwise):
            continue  # every reader uses it: check_readers says how
        _report(c, state, copies, outcome)


def _differ_in_shape(c: Comparison, leaf: Leaf) -> bool:
    """Whether a stored copy has another shape than the tensor that it is tied to: then both are loaded."""
    for name in c.match.names(leaf) if c.view else ():
        copy, original = (c.headers.entries.get(c.spelling.get(one, one)) for one in (name, leaf.tied_to or ""))
        if copy and original and copy.shape != original.shape:
            return True
    return False


def _report(c: Comparison, state: CopyState, copies: list[tuple[Leaf, int]], outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf203_tied_weight_stored import TiedWeightStored
    from hfcount.verifier.rules.hf213_tied_weight_differs import TiedWeightDiffers

    first, key = copies[0][0], "tie_word_embeddings"
    pair, stored = (first.tied_to or "", first.name), c.stored(copies)
    if state == "differing":
        counted = bool(outcome.untied)
        outcome.report(
            TiedWeightDiffers(expected=pair[0], observed=pair[1], key=key, file=CONFIG, **stored, counted=counted)
        )
    else:
        alike = True if state == "alike" else None
        outcome.report(
            TiedWeightStored(expected=pair[0], observed=pair[1], key=key, file=CONFIG, **stored, alike=alike)
        )


def alike(c: Comparison, outcome: Outcome, head: Leaf, table: str) -> CopyState:
    """Whether a stored head is the same as the embedding."""
    pairs = [pair for name in c.match.names(head) for pair in _pieces(c, name, table)]
    outcome.pieces += [piece for pair in pairs for piece in pair if piece not in (*c.samples, *outcome.pieces)]
    return _state(c, pairs)


def _state(c: Comparison, pairs: list[tuple[Piece, Piece]]) -> CopyState:
    digests = [(c.samples.get(first), c.samples.get(second)) for first, second in pairs]
    known = [(first, second) for first, second in digests if first and second]
    if any(first != second for first, second in known):
        return "differing"
    return "alike" if known and len(known) == len(pairs) else "unknown"


def _pieces(c: Comparison, name: str, to: str) -> Iterator[tuple[Piece, Piece]]:
    """The ends of two tensors, which are the same bytes if the tensors are the same; none where that cannot be told."""
    first, second = _place(c, name), _place(c, to)
    if first is None or second is None or c.headers.entries[first[0]][:2] != c.headers.entries[second[0]][:2]:
        return
    size = first[3]
    ends = [(0, size)] if size <= 2 * PAGE else [(0, PAGE), (size - PAGE, size)]
    for begin, end in ends if size else ():
        yield Piece(first[1], first[2] + begin, first[2] + end), Piece(second[1], second[2] + begin, second[2] + end)


def beside(c: Comparison, shard: Shard, tensors: Mapping[str, Entry]) -> Iterator[tuple[str, Piece, Piece]]:
    """Where a few tensors begin in a file beside those of the index, and in these: copies begin alike."""
    names = sorted(tensors, key=lambda name: (tensors[name].begin - tensors[name].end, name))
    for name in names[:: len(names) // _BESIDE + 1]:  # of all sizes, since training may leave some as they are
        place = _place(c, name)
        if place and shard.header and place[3]:
            begin, size = 8 + shard.header.length + tensors[name].begin, min(place[3], PAGE)
            yield name, Piece(place[1], place[2], place[2] + size), Piece(shard.name, begin, begin + size)


def _place(c: Comparison, name: str) -> tuple[str, str, int, int] | None:
    """A tensor's own name, its file, and where its bytes begin there and how many they are; None if that is unknown."""
    stored = c.spelling.get(name, name)
    if c.view is None or stored not in c.view.entries:
        return None
    entry = c.view.entries[stored]
    for file, shard in c.view.shards.items():
        if shard.header and shard.header.tensors.get(stored) is entry:
            return stored, file, 8 + shard.header.length + entry.begin, entry.end - entry.begin
    return None
