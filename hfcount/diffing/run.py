"""Two checkpoints, from their names to what differs."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from hfcount.checkpoints.inspection import Options
from hfcount.diffing import configs, listing, lora_merge, pipelines
from hfcount.diffing.comparison import Compared
from hfcount.diffing.config_effects import of_adapter, of_gguf
from hfcount.diffing.containers import held
from hfcount.diffing.expectations import Told, expectation, merged
from hfcount.diffing.files import compare, known
from hfcount.diffing.gguf_tensors import converted
from hfcount.diffing.heatmap import cells
from hfcount.diffing.loaded_side import Looked, looked, report
from hfcount.diffing.matching import Matched, folded, match
from hfcount.diffing.mistral_names import as_transformers, is_native
from hfcount.diffing.model import Diff
from hfcount.diffing.other_configs import sized_otherwise
from hfcount.diffing.pieces import ConfigKey, DiffDepth, Expectation, FileSums, Relation, Side
from hfcount.diffing.relations import relations
from hfcount.diffing.tensors import Inventory
from hfcount.diffing.values import Gaps, all_values, samples, shown
from hfcount.errors import HfcountError
from hfcount.fetcher import Request
from hfcount.fetcher.checksums import Contents
from hfcount.formats.model_index import Entry
from hfcount.options import Expected
from hfcount.report.figures import Failure
from hfcount.text import plural, printable

_APART = ("spelling", "tie", "reading")
"""Relations that leave the structure as it is, besides those of contents."""


class Asked(NamedTuple):
    """What is asked besides how far to look.

    Args:
        sample: whether the ends of tensors are compared.
        expected: what B has to be to A.
        adapter: what was merged into A, where that is expected.
        part: the part of a pipeline that both are, if they are one.
    """

    sample: bool = False
    expected: Expected | None = None
    adapter: str | None = None
    part: Entry | None = None


def diff(a: Request | HfcountError, b: Request | HfcountError, options: Options, wanted: Asked) -> Diff:
    """What differs between two checkpoints; a side that cannot be looked at is said to be.

    Args:
        a, b: which they are, or why one of them is none.
    """
    with ThreadPoolExecutor(2) as pool:
        contents = tuple(pool.map(known, (a, b)))
    files = compare(*contents)
    found = _by_files((a, b), contents, files, options)
    if found is not None:
        return found if wanted.expected is None else replace(found, expectation=expectation(wanted.expected, found))
    sides = (
        one if isinstance(one, HfcountError) else listing.listed(one, there)
        for one, there in zip((a, b), contents, strict=True)
    )
    how = options.of_headers
    if wanted.sample and how.depth == "auto":  # an index does not say where tensors are
        how = how._replace(depth="headers")
    with ExitStack() as both:
        one, other = (both.enter_context(looked(request, how, wanted.part)) for request in sides)
        if one.pipeline or other.pipeline:
            return pipelines.diff(one, other, files, lambda part, a, b: diff(a, b, options, wanted._replace(part=part)))
        return _differing(one, other, files, options, wanted)


def _by_files(
    requests: tuple[Request | HfcountError, Request | HfcountError],
    contents: tuple[Contents | None, ...],
    files: FileSums | None,
    options: Options,
) -> Diff | None:
    """What checksums say, where all weights are the same and looking further would take requests."""
    a, b = requests
    if files is None or not listing.settled(files) or not isinstance(a, Request) or not isinstance(b, Request):
        return None
    one, other = contents
    if one is None or other is None or not (one.commit or other.commit):
        return None
    if options.depth == "data" and not (one.commit and other.commit):
        return None
    return listing.diff((a, b), (one, other), files)


def _differing(a: Looked, b: Looked, files: FileSums | None, options: Options, wanted: Asked) -> Diff:
    c = replace(compared(a, b), files=files)
    container = held(a, b)
    matched = c.matched if container is None else _of_container(c) if container.apart else None
    gaps = _gaps(c, matched, options, wanted.sample)
    if gaps is not None and matched is not None:
        c = replace(c, gaps=gaps, values=shown(gaps, matched))
    found = relations(c) if container is None else container.beside(c.values)
    result = Diff(
        a=side(a, c.inventories[0]),
        b=side(b, c.inventories[1]),
        summary=_summary(a, b, found),
        relations=tuple(found),
        same_structure=_same_structure(c) if container is None else False if container.relations else None,
        depth=_depth(a, b) if c.values is None else "samples" if c.values.sampled else "data",
        config=tuple(c.config),
        tensors=folded(c.matched) if c.matched else None,
        files=c.files,
        values=c.values,
        cells=cells(matched, c.gaps) if matched and (c.matched or c.gaps) else (),
        notes=(*_notes(a, b, c), *(container.notes if container else ())),
    )
    if wanted.expected is None:
        return result
    told = expectation(wanted.expected, result, partial(_merged, c, result, wanted))
    if wanted.expected == "merge" and told.met:
        return _with_merge(c, result, told, _times(c, options, wanted))
    return replace(result, expectation=told)


def _with_merge(c: Compared, result: Diff, told: Expectation, times: float | None) -> Diff:
    """The same of a merge, by how often the adapter was added."""
    if times == 0:
        reason = "its targets differ, and not by what the adapter adds: it is another one"
        return replace(result, expectation=replace(told, met=False, reason=reason))
    # A merge may change less than another dtype does.
    rest = [one for one in result.relations if one.kind != "same-values"]
    found = [Relation(kind="merge", text=f"{_as_merged(times)}: {told.reason}"), *rest]
    return replace(result, relations=tuple(found), summary=_summary(c.a, c.b, found), expectation=told)


def _times(c: Compared, options: Options, wanted: Asked) -> float | None:
    """How often the adapter was added, where all values were read and that can be told."""
    if options.depth != "data" or wanted.adapter is None:
        return None
    from hfcount.diffing.lora_delta import times  # rarely asked for

    return times(c, wanted.adapter, options)


def _as_merged(times: float | None) -> str:
    if times is None:
        return "has other values where the adapter adapts A"
    return "is A with the adapter merged" + ("" if times == 1 else f" at {times:.3g} times its scale")


def _merged(c: Compared, found: Diff, wanted: Asked) -> Told:
    """Whether the modules that the adapter adapts differ, and no others."""
    if wanted.adapter is None or c.a.request is None:
        return None, "no adapter was named: --adapter says which"
    try:
        targets, allowed = lora_merge.targets(wanted.adapter, c.a.request, c.a.blueprint)
    except lora_merge.Unmerged as error:
        return None, str(error).rstrip(".")
    same = {key: not gap.other for key, gap in c.gaps.by_key.items()} if c.gaps else {}
    return merged(targets, allowed, same, found)


def _gaps(c: Compared, matched: Matched | None, options: Options, sample: bool) -> Gaps | None:
    """How values compare, where that is asked for."""
    if matched is None or not (options.depth == "data" or sample):
        return None
    gaps = all_values(c.a, c.b, matched, options) if options.depth == "data" else samples(c.a, c.b, matched)
    if c.matched is None:  # of a container only what it has of the model
        model = c.inventories[c.a.alone]
        gaps.uncompared += len(model.tensors) - len(matched.both) if model else 0
    return gaps


def _of_container(c: Compared) -> Matched | None:
    """The tensors of a GGUF file beside those of its model."""
    own, other = c.inventories
    header, model = c.a.gguf or c.b.gguf, c.b if c.a.gguf else c.a
    if header is None or model.blueprint is None or own is None or other is None:
        return None
    found = converted(header, model.blueprint, str(model.values.get("model_type") or "")).tensors
    one, two = (found, other.tensors) if c.a.gguf else (own.tensors, found)
    return Matched({key: (held, two[key]) for key, held in one.items() if key in two}, {}, {})


def compared(a: Looked, b: Looked) -> Compared:
    """All that was looked at, one side against the other."""
    if a.alone is not b.alone:
        return Compared(a, b, None, (a.inventory(), b.inventory()))
    one, other = a.inventory(b.blueprint), b.inventory(a.blueprint)
    if is_native(a) is not is_native(b) and one and other:
        a, b, one, other = _alike((a, one), (b, other))
    if one and other and one.packing and one.layouts == other.layouts:  # what is packed is compared as it is stored
        one, other = a.inventory(raw=True), b.inventory(raw=True)
    matched = match(one, other) if one and other else None
    keys = _keys(a, b) if a.values and b.values else ()
    return Compared(a, b, matched, (one, other), keys)


def _alike(a: tuple[Looked, Inventory], b: tuple[Looked, Inventory]) -> tuple[Looked, Looked, Inventory, Inventory]:
    """Both sides under the names of transformers, of which one has others; of its config what that layout has, too."""
    own, rest = (a, b) if is_native(a[0]) else (b, a)
    found = as_transformers(*own) if rest[0].blueprint else None
    if found is None:
        return a[0], b[0], a[1], b[1]
    shared = {name: value for name, value in rest[0].values.items() if name in found.side.values}
    other = replace(rest[0], values=shared)
    sides = (found, (other, rest[1])) if own is a else ((other, rest[1]), found)
    (one, first), (two, second) = sides
    return one, two, first, second


def _keys(a: Looked, b: Looked) -> tuple[ConfigKey, ...]:
    """The configs, the metadata or the settings, by what they change."""
    if a.gguf is not None:
        return configs.plain(a.values, b.values, of_gguf)
    if a.adapter is not None:
        return configs.plain(a.values, b.values, of_adapter)
    return configs.compare(a.values, b.values, (a.blueprint, b.blueprint))


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
    if c.matched is None or c.unread:
        return None
    sized = sized_otherwise(c.a.blueprint, c.b.blueprint)
    differs = sized or c.matched.only_a or c.matched.only_b or c.matched.shapes or c.matched.dtypes
    unsure = c.doubts or (c.gaps and c.gaps.broken)
    return False if differs else None if unsure else True


def _depth(a: Looked, b: Looked) -> DiffDepth | None:
    order: tuple[DiffDepth, ...] = ("config", "index", "headers")
    found = [one.inspection.evidence.depth if one.inspection else "headers" for one in (a, b) if not one.unseen]
    known = [order.index(one) for one in found if one in order]
    return order[min(known)] if known and len(found) == 2 else None


def _notes(a: Looked, b: Looked, c: Compared) -> list[str]:
    notes = []
    for name, one, own in (("A", a, c.inventories[0]), ("B", b, c.inventories[1])):
        if one.broken:
            notes.append(f"{name}: files are missing or cannot be read ({', '.join(dict.fromkeys(one.broken))}).")
        if one.inspection and one.inspection.blueprint is None and not one.alone and one.inspection.outcome.findings:
            notes.append(f"{name}: {one.inspection.outcome.findings[0].message}")
        if one.error is not None and one.shards is not None:
            notes.append(f"{name} is compared by the names that it stores: {one.error}")
        elif own is not None and not own.measured:
            notes.append(f"{name}: shapes and dtypes are those of its config, since no headers were read.")
        if one.inspection and one.inspection.evidence.unseen and one.adapter is None:
            notes.append(f"{name}: {one.inspection.evidence.unseen.message}")
    if c.gaps and (c.gaps.reason or c.gaps.uncompared):
        types = f", stored as {', '.join(c.gaps.unread)} among them" if c.gaps.unread else ""
        many = plural(c.gaps.uncompared, "tensor")
        notes.append(f"Values: {c.gaps.reason or f'{many} of one shape could not be compared by value{types}.'}")
    return [printable(note, None) for note in notes]
