"""Compares two checkpoints, from their names to a Diff."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from hfcount.checkpoints.data.difference import Difference
from hfcount.checkpoints.inspection import Options
from hfcount.diffing import configs, listing, lora_merge, pipelines
from hfcount.diffing.comparison import Comparison
from hfcount.diffing.config_effects import of_adapter, of_gguf
from hfcount.diffing.containers import container_relation
from hfcount.diffing.expectations import Judgement, expectation, merged
from hfcount.diffing.files import compare, known
from hfcount.diffing.gguf_tensors import converted
from hfcount.diffing.heatmap import cells
from hfcount.diffing.loaded_side import LoadedSide, load_side, report
from hfcount.diffing.matching import Matches, folded, match
from hfcount.diffing.mistral_names import as_transformers, is_native
from hfcount.diffing.model import Diff
from hfcount.diffing.other_configs import sized_otherwise
from hfcount.diffing.pieces import ConfigKey, DiffDepth, Expectation, FileSums, Judged, Relation, Side
from hfcount.diffing.relations import relations
from hfcount.diffing.tensors import Inventory
from hfcount.diffing.values import Gaps, all_values, introduced_apart, samples, shown
from hfcount.errors import HfcountError
from hfcount.fetcher import Request
from hfcount.fetcher.checksums import Contents
from hfcount.formats.model_index import Entry
from hfcount.options import Expected
from hfcount.report.figures import Failure
from hfcount.text import plural, printable

if TYPE_CHECKING:
    from hfcount.diffing.lora_delta import MergeScales

_APART = ("spelling", "tie", "reading")
"""Kinds of relations, besides those of contents, under which the structure is the same."""


def unmeasured(differences: Iterable[Difference]) -> None:
    """The default of `DiffOptions.measured`, which takes note of nothing."""
    del differences


class DiffOptions(NamedTuple):
    """The options of a diff that Options lacks.

    Args:
        sample: whether to compare the first and last bytes of tensors.
        expected: the relation of B to A that is expected.
        adapter: the adapter merged into A, for the expectation `merge`.
        part: the part of a pipeline that both sides are, if any.
        structure: whether the exit code goes by the structure even where all values are compared.
        allow_nan: whether NaN and infinite values that B alone has may be in what is expected.
        scale: how many times the adapter's delta was added on purpose, for the expectation `merge`.
        measured: called with the differences of tensors whose values were all compared; of a pipeline once a part.
    """

    sample: bool = False
    expected: Expected | None = None
    adapter: str | None = None
    part: Entry | None = None
    structure: bool = False
    allow_nan: bool = False
    scale: float | None = None
    measured: Callable[[Iterable[Difference]], None] = unmeasured


def diff(a: Request | HfcountError, b: Request | HfcountError, options: Options, wanted: DiffOptions) -> Diff:
    """Compares two checkpoints; the Diff also reports a side that cannot be read.

    Args:
        a, b: requests for both sides, or the error that replaces one.
    """
    with ThreadPoolExecutor(2) as pool:
        contents = tuple(pool.map(known, (a, b)))
    files = compare(*contents)
    by_files = _by_files((a, b), contents, files, options) if wanted.expected != "mergeable" else None
    if by_files is not None:
        expected = wanted.expected
        return by_files if expected is None else by_files.replace(expectation=expectation(expected, by_files))
    sides = (
        request if isinstance(request, HfcountError) else listing.listed(request, there)
        for request, there in zip((a, b), contents, strict=True)
    )
    how = options.of_headers
    if wanted.sample and how.depth == "auto":  # an index does not say where tensors are
        how = how._replace(depth="headers")
    with ExitStack() as both:
        first, other = (both.enter_context(load_side(request, how, wanted.part)) for request in sides)
        if first.pipeline or other.pipeline:
            result = pipelines.diff(
                first,
                other,
                files,
                lambda part, a, b: diff(a, b, options, wanted._replace(part=part)),
                wanted.allow_nan,
            )
            if wanted.expected == "mergeable":
                result = result.replace(expectation=expectation(wanted.expected, result))
            return result.replace(judged_by=_judged_by(options, wanted))
        return _differing(first, other, files, options, wanted)


def _by_files(
    requests: tuple[Request | HfcountError, Request | HfcountError],
    contents: tuple[Contents | None, ...],
    files: FileSums | None,
    options: Options,
) -> Diff | None:
    """The Diff by checksums alone, if all weights are the same and reading more would cost requests."""
    a, b = requests
    if files is None or not listing.settled(files) or not isinstance(a, Request) or not isinstance(b, Request):
        return None
    contents_a, other = contents
    if contents_a is None or other is None or not (contents_a.commit or other.commit):
        return None
    if options.depth == "data" and not (contents_a.commit and other.commit):
        return None
    return listing.diff((a, b), (contents_a, other), files)


def _differing(a: LoadedSide, b: LoadedSide, files: FileSums | None, options: Options, wanted: DiffOptions) -> Diff:
    c = _joined(replace(compared(a, b), files=files), options)
    container = container_relation(a, b)
    matched = c.matched if container is None else _of_container(c) if container.apart else None
    gaps = _gaps(c, matched, options, wanted)
    if gaps is not None and matched is not None:
        c, gaps, matched = _ordered(c, gaps, matched, options)
        c = replace(c, gaps=gaps, values=shown(gaps, matched))
        wanted.measured(gap.by for gap in gaps.by_key.values() if gap.by)
    related = relations(c) if container is None else container.beside(c.values)
    result = Diff(
        a=side(a, c.inventories[0]),
        b=side(b, c.inventories[1]),
        summary=_summary(a, b, related),
        relations=tuple(related),
        same_structure=_same_structure(c) if container is None else False if container.relations else None,
        depth=_depth(a, b) if c.values is None else "samples" if c.values.sampled else "data",
        config=tuple(c.config),
        tensors=folded(c.matched) if c.matched else None,
        files=c.files,
        values=c.values,
        cells=cells(matched, c.gaps) if matched and (c.matched or c.gaps) else (),
        notes=(*_notes(a, b, c), *(container.notes if container else ())),
        judged_by=_judged_by(options, wanted),
    )
    if wanted.expected is None:
        return result
    checks = partial(_merged, c, result, wanted), wanted.allow_nan, partial(_mergeable, c)
    judgement = expectation(wanted.expected, result, *checks)
    if wanted.expected == "merge" and judgement.met:
        return _with_merge(c, result, judgement, _times(c, options, wanted), wanted.scale)
    return result.replace(expectation=judgement)


def _joined(c: Comparison, options: Options) -> Comparison:
    """The comparison with matrices that one side joins and the other splits, where values are read."""
    if options.depth != "data" or not (c.matched and c.matched.only_a and c.matched.only_b):
        return c
    from hfcount.diffing.by_contents import joined_alike  # few are written otherwise

    return joined_alike(c, options)


def _ordered(c: Comparison, gaps: Gaps, matched: Matches, options: Options) -> tuple[Comparison, Gaps, Matches]:
    """The comparison with layers and experts in the order in which they hold the same, where values are read."""
    if c.matched is not matched or options.depth != "data":
        return c, gaps, matched
    from hfcount.diffing.by_contents import reordered

    order = reordered(c, matched, gaps, options)
    if order is None:
        return c, gaps, matched
    return replace(c, matched=order.matched, order=order.relations), order.gaps, order.matched


def _judged_by(options: Options, wanted: DiffOptions) -> Judged:
    """What the exit code goes by: values, if all were asked for."""
    return "values" if options.depth == "data" and not wanted.structure else "structure"


def _with_merge(
    c: Comparison, result: Diff, judgement: Expectation, scales: "MergeScales | None", scale: float | None
) -> Diff:
    """Adds the relation `merge`, by how many times the adapter's delta was added.

    Args:
        scale: how many times it was meant to be added; None for one of the usual scales.
    """
    times = scales.times if scales else None
    if times == 0:
        reason = "its targets differ, but not by this adapter: another one was merged"
        return result.replace(expectation=judgement.replace(met=False, reason=reason))
    if scales and (reason := scales.unmeant(scale)):
        return result.replace(expectation=judgement.replace(met=False, reason=reason))
    # A merge may change less than another dtype does.
    rest = [relation for relation in result.relations if relation.kind != "same-values"]
    related = [Relation(kind="merge", text=f"{_as_merged(times)}: {judgement.reason}"), *rest]
    return result.replace(relations=tuple(related), summary=_summary(c.a, c.b, related), expectation=judgement)


def _times(c: Comparison, options: Options, wanted: DiffOptions) -> "MergeScales | None":
    """How many times the adapter's delta was added to its targets; None unless all values were read."""
    if options.depth != "data" or wanted.adapter is None:
        return None
    from hfcount.diffing.lora_delta import scales  # rarely asked for

    return scales(c, wanted.adapter, options)


def _as_merged(times: float | None) -> str:
    if times is None:
        return "has other values where the adapter changes A"
    return "is A with the adapter merged" + ("" if times == 1 else f" at {times:.3g} times its scale")


def _merged(c: Comparison, diff: Diff, wanted: DiffOptions) -> Judgement:
    """Whether exactly the modules that the adapter adapts differ."""
    if wanted.adapter is None or c.a.request is None:
        return None, "no adapter was named (--adapter)"
    try:
        targets, allowed = lora_merge.targets(wanted.adapter, c.a.request, c.a.blueprint)
    except lora_merge.Unmerged as error:
        return None, str(error).rstrip(".")
    same = {key: not gap.other for key, gap in c.gaps.by_key.items()} if c.gaps else {}
    return merged(targets, allowed, same, diff)


def _mergeable(c: Comparison) -> Judgement:
    from hfcount.diffing.mergeable import mergeable  # which reads what mergekit defines

    return mergeable(c)


def _gaps(c: Comparison, matched: Matches | None, options: Options, wanted: DiffOptions) -> Gaps | None:
    """Compares values, if --sample or --depth data asks for it."""
    if matched is None or not (options.depth == "data" or wanted.sample):
        return None
    if options.depth == "data":
        gaps = all_values(c.a, c.b, matched, options)
        if wanted.expected and not wanted.allow_nan:
            gaps.introduced |= introduced_apart(c, matched, gaps, options)
    else:
        gaps = samples(c.a, c.b, matched)
    if c.matched is None:  # of a container only what it has of the model
        model = c.inventories[c.a.alone]
        gaps.uncompared += len(model.tensors) - len(matched.both) if model else 0
    return gaps


def _of_container(c: Comparison) -> Matches | None:
    """Matches the tensors of a GGUF file with those of its model."""
    tensors_a, other = c.inventories
    header, model = c.a.gguf or c.b.gguf, c.b if c.a.gguf else c.a
    if header is None or model.blueprint is None or tensors_a is None or other is None:
        return None
    converted_ = converted(header, model.blueprint, str(model.values.get("model_type") or "")).tensors
    in_a, in_b = (converted_, other.tensors) if c.a.gguf else (tensors_a.tensors, converted_)
    return Matches({key: (tensor, in_b[key]) for key, tensor in in_a.items() if key in in_b}, {}, {})


def compared(a: LoadedSide, b: LoadedSide) -> Comparison:
    """Matches the tensors of both sides and compares their configs."""
    if a.alone is not b.alone:
        return Comparison(a, b, None, (a.inventory(), b.inventory()))
    tensors_a, other = a.inventory(b.blueprint), b.inventory(a.blueprint)
    if is_native(a) is not is_native(b) and tensors_a and other:
        a, b, tensors_a, other = _alike((a, tensors_a), (b, other))
    # Weights that both sides pack in the same way are compared as they are stored.
    if tensors_a and other and tensors_a.packing and tensors_a.layouts == other.layouts:
        tensors_a, other = a.inventory(raw=True), b.inventory(raw=True)
    matched = match(tensors_a, other) if tensors_a and other else None
    keys = _keys(a, b) if a.values and b.values else ()
    return Comparison(a, b, matched, (tensors_a, other), keys)


def _alike(
    a: tuple[LoadedSide, Inventory], b: tuple[LoadedSide, Inventory]
) -> tuple[LoadedSide, LoadedSide, Inventory, Inventory]:
    """Renames the side in Mistral's layout to transformers' names; configs are cut to keys that both layouts have."""
    native, rest = (a, b) if is_native(a[0]) else (b, a)
    translated = as_transformers(*native) if rest[0].blueprint else None
    if translated is None:
        return a[0], b[0], a[1], b[1]
    shared = {name: value for name, value in rest[0].values.items() if name in translated.side.values}
    other = replace(rest[0], values=shared)
    sides = (translated, (other, rest[1])) if native is a else ((other, rest[1]), translated)
    (side_a, first), (side_b, second) = sides
    return side_a, side_b, first, second


def _keys(a: LoadedSide, b: LoadedSide) -> tuple[ConfigKey, ...]:
    """Compares configs, GGUF metadata or adapter settings by effect."""
    if a.gguf is not None:
        return configs.plain(a.values, b.values, of_gguf)
    if a.adapter is not None:
        return configs.plain(a.values, b.values, of_adapter)
    return configs.compare(a.values, b.values, (a.blueprint, b.blueprint))


def side(loaded: LoadedSide, tensors: Inventory | None) -> Side:
    """The summary of one side."""
    verified, view = report(loaded), loaded.view
    evidence, count = verified.evidence, len(tensors.tensors) if tensors and tensors.measured else None
    return Side(
        model=verified.model,
        revision=verified.revision,
        source=verified.source,
        container=verified.container,
        family=verified.family,
        architecture=verified.architecture,
        verdict=verified.verdict,
        findings=tuple(finding.code for finding in verified.findings),
        parameters=verified.parameters.total if verified.parameters else None,
        tensors=evidence.tensors if evidence else count,
        bytes=view.data_bytes if view else None,
        dtypes=view.elements if view else evidence.dtypes if evidence else None,
        packing=tensors.packing or None if tensors else None,
        error=_failure(loaded.unseen),
    )


def _failure(error: HfcountError | None) -> Failure | None:
    return Failure(kind=error.kind, message=str(error)) if error else None


def _summary(a: LoadedSide, b: LoadedSide, related: Sequence[Relation]) -> str:
    if related:
        return "B " + "; ".join(relation.text for relation in related)
    sides = [name for name, loaded in (("A", a), ("B", b)) if loaded.unseen or loaded.inventory() is None]
    return f"{' and '.join(sides)} could not be read" if sides else "they could not be compared"


def _same_structure(c: Comparison) -> bool | None:
    if c.matched is None or c.unread:
        return None
    sized = sized_otherwise(c.a.blueprint, c.b.blueprint)
    differs = sized or c.matched.only_a or c.matched.only_b or c.matched.shapes or c.matched.dtypes
    unsure = c.doubts or (c.gaps and c.gaps.broken)
    return False if differs else None if unsure else True


def _depth(a: LoadedSide, b: LoadedSide) -> DiffDepth | None:
    order: tuple[DiffDepth, ...] = ("config", "index", "headers")
    inspections = [loaded.inspection for loaded in (a, b) if not loaded.unseen]
    depths = [inspection.evidence.depth if inspection else "headers" for inspection in inspections]
    known = [order.index(depth) for depth in depths if depth in order]
    return order[min(known)] if known and len(depths) == 2 else None


def _notes(a: LoadedSide, b: LoadedSide, c: Comparison) -> list[str]:
    notes = []
    for name, loaded, tensors in (("A", a, c.inventories[0]), ("B", b, c.inventories[1])):
        if loaded.broken:
            notes.append(f"{name}: files are missing or cannot be read ({', '.join(dict.fromkeys(loaded.broken))}).")
        inspection = loaded.inspection
        if inspection and inspection.blueprint is None and not loaded.alone and inspection.outcome.findings:
            notes.append(f"{name}: {inspection.outcome.findings[0].message}")
        if loaded.error is not None and loaded.shards is not None:
            notes.append(f"{name} is compared by its stored names: {loaded.error}")
        elif tensors is not None and not tensors.measured:
            notes.append(f"{name}: shapes and dtypes come from its config, because no headers were read.")
        if inspection and inspection.evidence.unseen and loaded.adapter is None:
            notes.append(f"{name}: {inspection.evidence.unseen.message}")
    if c.gaps and (c.gaps.reason or c.gaps.uncompared):
        types = f", stored as {', '.join(c.gaps.unread)} among them" if c.gaps.unread else ""
        many = plural(c.gaps.uncompared, "tensor")
        notes.append(f"Values: {c.gaps.reason or f'{many} of one shape could not be compared by value{types}.'}")
    return [printable(note, None) for note in notes]
