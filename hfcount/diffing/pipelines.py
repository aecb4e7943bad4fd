"""Two pipelines of diffusers, part by part."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hfcount.diffing.model import Diff
from hfcount.diffing.pieces import Expectation, Relation, Side
from hfcount.diffing.sides import Looked
from hfcount.errors import DocumentError, HfcountError
from hfcount.fetcher import Request
from hfcount.formats.pipeline_index import Entry, PipelineIndex, read_pipeline
from hfcount.text import printable

Differ = Callable[[Entry, Request | HfcountError, Request | HfcountError], Diff]
"""Says what differs between two parts."""


def diff(a: Looked, b: Looked, differ: Differ) -> Diff:
    """What differs between two pipelines, or a pipeline and something else."""
    sides = Side(model=printable(a.model)), Side(model=printable(b.model))
    try:
        indexes = tuple(
            read_pipeline(one.documents.config) if one.pipeline and one.documents else None for one in (a, b)
        )
    except DocumentError as error:
        return Diff(a=sides[0], b=sides[1], summary="nothing is known of how they compare", notes=(str(error),))
    first, second = indexes
    if first is None or second is None:
        which = (
            "B is a pipeline of several models, and A is none"
            if first is None
            else "A is a pipeline of several models, and B is none"
        )
        relation = Relation(kind="another-model", text=which.removeprefix("B "))
        return Diff(a=sides[0], b=sides[1], summary=which, relations=(relation,), same_structure=False)
    parts = {entry.name: differ(entry, *_requests(entry.name, a, b)) for entry in _common(first, second)}
    relations = [*_lists(first, second), *_of_parts(parts)]
    listed = not any(one.kind == "tensors" for one in relations)
    same = _every([listed, *(part.same_structure for part in parts.values())])
    return Diff(
        a=_side(a, first, [part.a for part in parts.values()]),
        b=_side(b, second, [part.b for part in parts.values()]),
        summary="B " + "; ".join(one.text for one in relations),
        relations=tuple(relations),
        same_structure=same,
        depth=next((part.depth for part in parts.values()), None),
        parts=parts,
        expectation=_expectation(parts),
    )


def _expectation(parts: Mapping[str, Diff]) -> Expectation | None:
    """What was expected of each part, of the whole: of a fine-tune that one part at least has other values."""
    found = {name: part.expectation for name, part in parts.items() if part.expectation}
    if not found:
        return None
    expected = next(iter(found.values())).expected
    met = [one.met for one in found.values()]
    told = _every(met)
    if expected == "finetune" and (same := _every([parts[name].same_structure for name in found])) is not False:
        some = True if True in met else None if None in met else False
        told = _every([some, same]) if some is not False else False
    reasons = "; ".join(f"{printable(name)}: {one.reason}" for name, one in found.items())
    return Expectation(expected=expected, met=told, reason=reasons)


def _every(told: Sequence[bool | None]) -> bool | None:
    """Whether all hold; None where none is wrong, and some cannot be told."""
    return False if False in told else None if None in told else True


def _requests(name: str, *sides: Looked) -> tuple[Request | HfcountError, Request | HfcountError]:
    a, b = (_request(one.request, name) for one in sides)
    return a, b


def _request(request: Request | None, name: str) -> Request:
    assert request is not None  # a pipeline was looked at
    folder = f"{request.subfolder}/{name}" if request.subfolder else name
    if request.files is None:
        return replace(request, subfolder=folder)
    start = f"{name}/"
    inner = {path.removeprefix(start): size for path, size in request.files.items() if path.startswith(start)}
    return replace(request, subfolder=folder, files=inner)


def _weighted(index: PipelineIndex) -> Mapping[str, Entry]:
    return {entry.name: entry for entry in index.parts if not entry.weightless}


def _common(a: PipelineIndex, b: PipelineIndex) -> Sequence[Entry]:
    others = _weighted(b)
    return [entry for name, entry in _weighted(a).items() if name in others]


def _lists(a: PipelineIndex, b: PipelineIndex) -> list[Relation]:
    """Parts that one pipeline alone has, and another class of the pipeline."""
    found = []
    one, other = _weighted(a), _weighted(b)
    for names, verb in ((one.keys() - other.keys(), "lacks"), (other.keys() - one.keys(), "adds")):
        if names:
            text = f"{verb} the part {', '.join(map(printable, sorted(names)))}"
            found.append(Relation(kind="tensors", text=text))
    if a.kind != b.kind:
        found.append(Relation(kind="reading", text=f"is a {printable(b.kind, 60)}, and A a {printable(a.kind, 60)}"))
    return found


def _of_parts(parts: Mapping[str, Diff]) -> list[Relation]:
    """What the parts are; those of which the same is said together."""
    texts: dict[tuple[Relation, ...], list[str]] = {}
    for name, part in parts.items():
        texts.setdefault(part.relations, []).append(name)
    return [
        Relation(kind=one.kind, text=f"in {', '.join(map(printable, names))} {one.text}")
        for relations, names in texts.items()
        for one in relations or (Relation(kind="unread", text=f"is not known: {parts[names[0]].summary}"),)
    ]


def _side(one: Looked, index: PipelineIndex, parts: Sequence[Side]) -> Side:
    documents = one.documents
    return Side(
        model=printable(one.model),
        revision=documents.revision if documents else None,
        source=documents.source if documents else None,
        architecture=printable(index.kind, 60),
        parameters=sum(part.parameters or 0 for part in parts) or None,
        tensors=sum(part.tensors or 0 for part in parts) or None,
        bytes=sum(part.bytes or 0 for part in parts) or None,
    )
