"""Objections to a repair: what it gives up, what else fits, what contradicts it."""

from collections.abc import Collection, Iterable, Iterator

from hfcount.blueprints.blueprint import Blueprint
from hfcount.fetcher.layout import CONFIG, INDEX
from hfcount.repair.state import Proposal, State
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.leaves import Leaf
from hfcount.text import plural, printable
from hfcount.verifier.causes.stored_rows import Row, StoredRows, Text, compare, text_of
from hfcount.verifier.causes.whole_model import wholes
from hfcount.verifier.folded_names import fold
from hfcount.verifier.loaders.labels import NEWEST

_NAMED = 3  # rows listed
_MOST = 20_000  # tensors no longer described, up to which they are named
_DEFAULT = ", by default"
_WITNESSES = ("HF104", "HF105", "HF401", "HF403")
"""Findings about independent announcements: token ids and totals."""


def objections(before: State, step: Proposal, after: State) -> list[str]:
    """Objections to a repair, in sentences; none if it is proven.

    A repair is proven if transformers does not load the checkpoint as it is, no other config fits, nothing stored or
    announced is given up, and no remaining error suggests another cause.
    """
    doubts = [step.doubt] if step.doubt else []
    if CONFIG not in step.changes:
        return doubts
    doubts += _given_up(before.run.blueprint, after.run.blueprint)
    doubts += [] if doubts or not step.keys else [*_loading(step), *_several(after.run.blueprint, step.keys)]
    doubts += _beside(after) if step.keys else ()
    return [*doubts, *_witnesses(after, () if step.keys else before.codes)]


def remaining(after: State) -> list[str]:
    """Codes of errors that remain after a repair."""
    return sorted({finding.code for finding in after.findings if finding.blocks} - {*_WITNESSES})


def unfinished(after: State) -> list[str]:
    """The objection that the repaired checkpoint still does not load."""
    left = remaining(after)
    return [f"{', '.join(left)} would remain: the checkpoint would still not load completely."] if left else []


def _given_up(before: Blueprint | None, after: Blueprint | None) -> Iterator[str]:
    """Tensors that the changed config drops or shrinks."""
    if before is None or after is None:
        return
    comparison = compare(after.leaves, _described(before))
    if comparison.unexpected:
        few = comparison.counts[1] <= _MOST
        places = [(text, numbers) for how, text, numbers in comparison.places() if how == "unexpected"] if few else []
        rows = wholes(places, StoredRows(_by_text(after.leaves))).rows() if few else []
        names = _named(rows) if few else plural(comparison.counts[1], "tensor")
        yield (
            f"Tensors that the present config.json describes, and the repaired one does not, stay lost: {names}. If you"
            " still have them, restore them instead."
        )
    smaller = [
        (leaf, row)
        for leaf, row in comparison.misshapen
        if row.shape is None or len(row.shape) != len(leaf.shape) or any(map(int.__gt__, row.shape, leaf.shape))
    ]
    if smaller:
        leaf, row = smaller[0]
        sizes = " to ".join("×".join(str(int(size)) for size in shape) for shape in (row.shape or (), leaf.shape))
        many = sum(row.count for _, row in smaller)
        yield (
            f"{plural(many, 'tensor')} would be smaller than config.json says, such as {printable(row.name)}"
            f" ({sizes}): rows, columns or files of other ranks may have been lost. If you still have them, restore"
            " them instead."
        )


def _described(blueprint: Blueprint) -> StoredRows:
    """A blueprint's tensors as if they were stored."""
    return StoredRows(_by_text(leaf for leaf in blueprint.leaves if leaf.presence != "obsolete"))


def _by_text(leaves: Iterable[Leaf]) -> dict[Text, list[Row]]:
    rows: dict[Text, list[Row]] = {}
    for leaf in leaves:
        rows.setdefault(text_of(leaf), []).append(Row(text_of(leaf), tuple(leaf.indices), leaf.shape))
    return rows


def _named(rows: Collection[str]) -> str:
    """The first rows, and the number of others."""
    first = [printable(row) for row in rows][:_NAMED]
    more = len(rows) - len(first)
    return ", ".join(first) + (f" and {more:,} more" if more > 0 else "")


def _loading(step: Proposal) -> Iterator[str]:
    """The objection that transformers loads the checkpoint; only a wrong shape stops it."""
    if "HF301" not in step.codes:
        yield (
            f"{NEWEST} loads it as it is and drops the tensors that config.json does not describe. If they are"
            " leftovers, save again without them."
        )


def _several(blueprint: Blueprint | None, keys: Collection[str]) -> Iterator[str]:
    """The objection that stored sizes do not determine some keys."""
    open_ = sorted(set(keys) - pinned(blueprint)) if blueprint else sorted(keys)
    if open_:
        names = ", ".join(printable(key, 60) for key in open_)
        yield f"No stored size determines {names} alone: other values may fit, alone or with other keys."


def pinned(blueprint: Blueprint) -> set[str]:
    """Keys whose value follows from the shapes alone.

    A size of one key determines it; a size of several keys determines the last open one.
    """
    sizes: dict[tuple[str, int], Dim] = {}
    for leaf in blueprint.leaves:
        if leaf.presence == "required" and leaf.part == "model":
            sizes |= {(str(size.terms), int(size)): size for size in leaf.shape if isinstance(size, Dim)}
    sources = [
        (size, {source for source, _ in size.read() if not source.endswith(", fixed")}) for size in sizes.values()
    ]
    known, before = set[str](), -1
    while len(known) > before:
        before = len(known)
        for size, unknown in sources:
            open_ = unknown - known
            if len(open_) == 1 and _only(size, source := open_.pop()):
                known.add(source)
    return {source.removesuffix(_DEFAULT) for source in known}


def _only(size: Dim, source: str) -> bool:
    """Whether only this value of the source gives the size, which is monotonic in it."""
    value, result = dict(size.read())[source], size.depending(source)
    try:
        return all(result(value + by) != size for by in (-1, 1))
    except (ArithmeticError, ValueError):
        return False


def _beside(after: State) -> Iterator[str]:
    """The objection that errors remain, so that the cause may be another."""
    left = remaining(after)
    if left:
        yield f"{', '.join(left)} would remain, so the cause may be another."


def _witnesses(after: State, known: Collection[str]) -> Iterator[str]:
    """Independent announcements that contradict the change; `known` are codes that did so before, of other sizes."""
    if gone := after.gone:
        yield (
            f"The index names {plural(len(gone), 'tensor')} that no file has: {_named(fold(gone))}. If you have"
            " the file, restore it instead."
        )
    for finding in after.findings:
        if finding.code in _WITNESSES and finding.code not in known and not (finding.file == INDEX and after.silent):
            yield f"Another finding contradicts it: {finding.text}"
