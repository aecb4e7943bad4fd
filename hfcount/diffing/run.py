"""Two checkpoints, from their names to what differs."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import NamedTuple

from hfcount.choices import Expected
from hfcount.diffing import configs, listing
from hfcount.diffing.expecting import expectation
from hfcount.diffing.files import compare, known
from hfcount.diffing.matching import folded, match
from hfcount.diffing.model import Diff, DiffDepth, FileSums, Relation, Side
from hfcount.diffing.relations import Compared, relations
from hfcount.diffing.sides import Looked, looked, report
from hfcount.diffing.tensors import Inventory
from hfcount.errors import HfcountError
from hfcount.fetcher import Request
from hfcount.figures import Failure
from hfcount.inspection import Options
from hfcount.text import printable

_APART = ("spelling", "tie", "reading")
"""Relations that leave the structure as it is, besides those of contents."""


class Asked(NamedTuple):
    """What is asked besides how far to look.

    Args:
        sample: whether the ends of tensors are compared.
        expected: what B has to be to A.
        adapter: what was merged into A, where that is expected.
    """

    sample: bool = False
    expected: Expected | None = None
    adapter: str | None = None


def diff(a: Request | HfcountError, b: Request | HfcountError, options: Options, wanted: Asked) -> Diff:
    """What differs between two checkpoints; a side that cannot be looked at is said to be.

    Args:
        a, b: which they are, or why one of them is none.
    """
    with ThreadPoolExecutor(2) as pool:
        contents = tuple(pool.map(known, (a, b)))
    files = compare(*contents)
    if files and listing.settled(files) and isinstance(a, Request) and isinstance(b, Request):
        assert contents[0] and contents[1]  # else nothing is known of the files
        return listing.diff((a, b), (contents[0], contents[1]), files)
    sides = (
        one if isinstance(one, HfcountError) else listing.listed(one, there)
        for one, there in zip((a, b), contents, strict=True)
    )
    with ExitStack() as both:
        one, other = (both.enter_context(looked(request, options.of_headers)) for request in sides)
        return _differing(one, other, files, wanted)


def _differing(a: Looked, b: Looked, files: FileSums | None, wanted: Asked) -> Diff:
    c = replace(compared(a, b), files=files)
    found = relations(c)
    result = Diff(
        a=side(a, c.inventories[0]),
        b=side(b, c.inventories[1]),
        summary=_summary(a, b, found),
        relations=tuple(found),
        same_structure=_same_structure(c),
        depth=_depth(a, b),
        config=tuple(c.config),
        tensors=folded(c.matched) if c.matched else None,
        files=c.files,
        notes=tuple(_notes(a, b, c)),
    )
    return result if wanted.expected is None else replace(result, expectation=expectation(wanted.expected, c, result))


def compared(a: Looked, b: Looked) -> Compared:
    """All that was looked at, one side against the other."""
    one, other = a.inventory(), b.inventory()
    if one and other and one.packing and one.layouts == other.layouts:  # what is packed is compared as it is stored
        one, other = a.inventory(raw=True), b.inventory(raw=True)
    matched = match(one, other) if one and other else None
    keys = configs.compare(a.values, b.values, (a.blueprint, b.blueprint)) if a.values and b.values else ()
    return Compared(a, b, matched, (one, other), keys)


def side(one: Looked, own: Inventory | None) -> Side:
    """One side as the report shows it."""
    found = report(one)
    view = one.view
    stored = found.evidence.tensors if found.evidence else len(own.tensors) if own and own.measured else None
    return Side(
        model=found.model,
        revision=found.revision,
        source=found.source,
        container=found.container,
        family=found.family,
        architecture=found.architecture,
        verdict=found.verdict,
        findings=tuple(finding.code for finding in found.findings),
        parameters=found.parameters.total if found.parameters else None,
        tensors=stored,
        bytes=view.data_bytes if view else None,
        dtypes=view.elements if view else found.evidence.dtypes if found.evidence else None,
        packing=own.packing or None if own else None,
        error=_failure(one.unseen),
    )


def _failure(error: HfcountError | None) -> Failure | None:
    return Failure(kind=error.kind, message=str(error)) if error else None


def _summary(a: Looked, b: Looked, found: Sequence[Relation]) -> str:
    if found:
        return "B " + "; ".join(one.text for one in found)
    sides = [name for name, one in (("A", a), ("B", b)) if one.unseen or one.inventory() is None]
    return f"{' and '.join(sides)} could not be looked at" if sides else "nothing is known of how they compare"


def _same_structure(c: Compared) -> bool | None:
    if c.matched is None:
        return None
    return not (c.matched.only_a or c.matched.only_b or c.matched.shapes or c.matched.dtypes)


def _depth(a: Looked, b: Looked) -> DiffDepth | None:
    order: tuple[DiffDepth, ...] = ("config", "index", "headers")
    found = [one.inspection.evidence.depth if one.inspection else "headers" for one in (a, b) if not one.unseen]
    known = [order.index(one) for one in found if one in order]
    return order[min(known)] if known and len(found) == 2 else None


def _notes(a: Looked, b: Looked, c: Compared) -> list[str]:
    notes = []
    for name, one, own in (("A", a, c.inventories[0]), ("B", b, c.inventories[1])):
        if one.error is not None and one.shards is not None:
            notes.append(f"{name} is compared by the names that it stores: {one.error}")
        elif own is not None and not own.measured:
            notes.append(f"{name}: shapes and dtypes are those of its config, since no headers were read.")
        if one.inspection and one.inspection.evidence.unseen:
            notes.append(f"{name}: {one.inspection.evidence.unseen.message}")
    return [printable(note, None) for note in notes]
