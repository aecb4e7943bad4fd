"""Compares two diffusers pipelines part by part."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from hfcount.diffing.configs import plain
from hfcount.diffing.expectations import introduced
from hfcount.diffing.loaded_side import LoadedSide
from hfcount.diffing.model import Diff
from hfcount.diffing.pieces import ConfigKey, Effect, Expectation, FileSums, Relation, Side
from hfcount.errors import DocumentError, FetchError, HfcountError
from hfcount.fetcher import Request
from hfcount.formats.json import parse_object
from hfcount.formats.model_index import Entry, PipelineIndex, read_pipeline
from hfcount.report.figures import Failure
from hfcount.text import printable

_FEW = 3  # names in a line
_SETTINGS = ("scheduler_config.json", "preprocessor_config.json", "tokenizer_config.json")

Differ = Callable[[Entry, Request | HfcountError, Request | HfcountError], Diff]
"""Compares two parts of one name."""


def diff(a: LoadedSide, b: LoadedSide, files: FileSums | None, differ: Differ, allow_nan: bool = False) -> Diff:
    """Compares two pipelines, or a pipeline and another model.

    Args:
        files: the comparison of their files by checksum.
        allow_nan: whether NaN and infinite values that B alone has may be in what is expected.
    """
    sides = Side(model=printable(a.model)), Side(model=printable(b.model))
    try:
        indexes = tuple(
            read_pipeline(side.documents.config) if side.pipeline and side.documents else None for side in (a, b)
        )
    except DocumentError as error:
        return Diff(a=sides[0], b=sides[1], summary="they could not be compared", notes=(str(error),))
    if unread := [name for name, side in (("A", a), ("B", b)) if _is_unread(side)]:
        return Diff(a=_failed(a), b=_failed(b), summary=f"{' and '.join(unread)} could not be read")
    first, second = indexes
    if first is None or second is None:
        if (part := _of_one(a, b, first or second, differ)) is not None:
            return part
        which = (
            "B is a pipeline of several models, A is not"
            if first is None
            else "A is a pipeline of several models, B is not"
        )
        relation = Relation(kind="another-model", text=which.removeprefix("B "))
        return Diff(a=sides[0], b=sides[1], summary=which, relations=(relation,), same_structure=False)
    parts = {entry.name: differ(entry, *_requests(entry.name, a, b)) for entry in _common(first, second)}
    config = (*_settings(first, second), *_of_weightless((a, b), _weightless(first, second), files))
    relations = [*_lists(first, second), *_of_parts(parts), *_read_otherwise(config)]
    relations += _of_files(_weightless(first, second), config, files)
    listed = not any(relation.kind == "tensors" for relation in relations)
    same = _every([listed, *(part.same_structure for part in parts.values())])
    return Diff(
        a=_side(a, first, [part.a for part in parts.values()]),
        b=_side(b, second, [part.b for part in parts.values()]),
        summary="B " + "; ".join(relation.text for relation in relations),
        relations=tuple(relations),
        same_structure=same,
        depth=next((part.depth for part in parts.values()), None),
        config=config,
        files=files,
        parts=parts,
        expectation=_expectation(parts, allow_nan),
    )


def _is_unread(side: LoadedSide) -> bool:
    return side.unseen is not None or (not side.pipeline and side.inventory() is None)


def _failed(side: LoadedSide) -> Side:
    """A side, with the reason if it could not be read."""
    error = side.unseen
    failure = Failure(kind=error.kind, message=str(error)) if error else None
    return Side(model=printable(side.model), error=failure)


def _of_one(a: LoadedSide, b: LoadedSide, index: PipelineIndex | None, differ: Differ) -> Diff | None:
    """Compares a model with the pipeline part of its class; None if no single part has that class."""
    pipeline, model = (a, b) if a.pipeline else (b, a)
    named = [model.values.get("_class_name"), *(model.values.get("architectures") or ())]
    entries = [entry for entry in index.parts if entry.kind in named] if index else []
    if len(entries) != 1 or model.request is None:
        return None
    name, inner = printable(entries[0].name), _request(pipeline.request, entries[0].name)
    sides = (inner, model.request) if a.pipeline else (model.request, inner)
    result = differ(entries[0], *sides)
    text = f"was compared only with A's part {name}" if a.pipeline else f"is a pipeline; A was compared with its {name}"
    relations = (Relation(kind="part", text=text), *result.relations)
    summary = "B " + "; ".join(relation.text for relation in relations)
    same = False if result.same_structure is not None else None
    return result.replace(relations=relations, summary=summary, same_structure=same)


def _expectation(parts: Mapping[str, Diff], allow_nan: bool) -> Expectation | None:
    """Combines the parts' expectations; a fine-tune needs one part with other values."""
    expectations = {name: part.expectation for name, part in parts.items() if part.expectation}
    if not expectations:
        return None
    expected = next(iter(expectations.values())).expected
    met = [expectation.met for expectation in expectations.values()]
    holds = _every(met)
    if expected == "finetune" and (same := _every([parts[name].same_structure for name in expectations])) is not False:
        some = True if True in met else None if None in met else False
        holds = _every([some, same]) if some is not False else False
        if not allow_nan and any(map(introduced, parts.values())):
            holds = False
    reasons = "; ".join(f"{printable(name)}: {expectation.reason}" for name, expectation in expectations.items())
    return Expectation(expected=expected, met=holds, reason=reasons)


def _every(answers: Sequence[bool | None]) -> bool | None:
    """Whether all hold; None if none fails and some are unknown."""
    return False if False in answers else None if None in answers else True


def _requests(name: str, *sides: LoadedSide) -> tuple[Request | HfcountError, Request | HfcountError]:
    a, b = (_request(side.request, name) for side in sides)
    return a, b


def _request(request: Request | None, name: str) -> Request:
    assert request is not None  # a pipeline was looked at
    folder = f"{request.subfolder}/{name}" if request.subfolder else name
    if request.files is None:
        return request.replace(subfolder=folder)
    start = f"{name}/"
    inner = {path.removeprefix(start): size for path, size in request.files.items() if path.startswith(start)}
    return request.replace(subfolder=folder, files=inner)


def _weighted(index: PipelineIndex) -> Mapping[str, Entry]:
    return {entry.name: entry for entry in index.parts if not entry.weightless}


def _common(a: PipelineIndex, b: PipelineIndex) -> Sequence[Entry]:
    others = _weighted(b)
    return [entry for name, entry in _weighted(a).items() if name in others]


def _lists(a: PipelineIndex, b: PipelineIndex) -> list[Relation]:
    """Relations for parts that only one pipeline has, and for a different pipeline class."""
    relations = []
    first, other = _weighted(a), _weighted(b)
    for names, verb in ((first.keys() - other.keys(), "lacks"), (other.keys() - first.keys(), "adds")):
        if names:
            text = f"{verb} the part {', '.join(map(printable, sorted(names)))}"
            relations.append(Relation(kind="tensors", text=text))
    if a.kind != b.kind:
        text = f"is a {printable(b.kind, 60)}, A a {printable(a.kind, 60)}"
        relations.append(Relation(kind="reading", text=text))
    return relations


def _weightless(a: PipelineIndex, b: PipelineIndex) -> Sequence[str]:
    """Parts without weights that both have."""
    others = {entry.name for entry in b.parts if entry.weightless}
    return [entry.name for entry in a.parts if entry.weightless and entry.name in others]


def _settings(a: PipelineIndex, b: PipelineIndex) -> Iterator[ConfigKey]:
    """Differing pipeline settings and classes of parts without weights."""
    kinds = [{entry.name: entry.kind for entry in index.parts if entry.weightless} for index in (a, b)]
    yield from plain({**a.settings, **kinds[0]}, {**b.settings, **kinds[1]}, _effect)


def _effect(key: str) -> Effect:
    return "none" if key.startswith("_") else "reading"


def _of_weightless(
    sides: tuple[LoadedSide, LoadedSide], names: Sequence[str], files: FileSums | None
) -> Iterator[ConfigKey]:
    """Differing settings of schedulers and the like, for local pipelines."""
    for name in names:
        for file in (f"{name}/{end}" for end in _SETTINGS):
            if files is not None and file in files.differing:
                values, other = (_values(side, file) for side in sides)
                if values is not None and other is not None:
                    yield from (row.replace(key=f"{name}.{row.key}") for row in plain(values, other, _effect))


def _values(side: LoadedSide, file: str) -> dict[str, Any] | None:
    """The values of a settings file; None if unreadable, or readable only by a request."""
    documents = side.documents
    if documents is None or documents.source != "folder" or documents.place is None:
        return None
    with suppress(DocumentError, FetchError):
        document = documents.place.reader.document(file)
        return parse_object(document, endless=True) if document else None
    return None


def _read_otherwise(config: Sequence[ConfigKey]) -> Iterator[Relation]:
    keys = [row.key for row in config if row.effect == "reading"]
    if keys:
        more = f" and {len(keys) - _FEW} more keys" if len(keys) > _FEW else ""
        yield Relation(kind="reading", text=f"has other settings ({', '.join(keys[:_FEW])}{more})")


def _of_files(names: Sequence[str], config: Sequence[ConfigKey], files: FileSums | None) -> Iterator[Relation]:
    """Relations for weightless parts with differing files whose keys show no difference."""
    explained = [name for name in names if any(row.key.startswith(f"{name}.") for row in config)]
    if files is None:
        return
    for name in names:
        changed = [path for path in (*files.differing, *files.only_a, *files.only_b) if path.startswith(f"{name}/")]
        if changed and name not in explained:
            more = f" and {len(changed) - _FEW} more" if len(changed) > _FEW else ""
            text = f"in {printable(name)} has other files than A ({', '.join(changed[:_FEW])}{more})"
            yield Relation(kind="reading", text=text)


def _of_parts(parts: Mapping[str, Diff]) -> list[Relation]:
    """Relations of the parts, with equal ones merged."""
    texts: dict[tuple[Relation, ...], list[str]] = {}
    for name, part in parts.items():
        texts.setdefault(part.relations, []).append(name)
    return [
        Relation(kind=relation.kind, text=f"in {', '.join(map(printable, names))} {relation.text}")
        for relations, names in texts.items()
        for relation in relations
        or (Relation(kind="unread", text=f"could not be compared: {parts[names[0]].summary}"),)
    ]


def _side(side: LoadedSide, index: PipelineIndex, parts: Sequence[Side]) -> Side:
    documents = side.documents
    return Side(
        model=printable(side.model),
        revision=documents.revision if documents else None,
        source=documents.source if documents else None,
        architecture=printable(index.kind, 60),
        parameters=sum(part.parameters or 0 for part in parts) or None,
        tensors=sum(part.tensors or 0 for part in parts) or None,
        bytes=sum(part.bytes or 0 for part in parts) or None,
    )
