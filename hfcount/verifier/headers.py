"""Checks safetensors headers: files, layout, shapes, dtypes, bytes."""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from hfcount.fetcher.layout import INDEX
from hfcount.fetcher.reasons import named
from hfcount.formats import dtypes
from hfcount.formats.index import Index
from hfcount.formats.safetensors import Shard
from hfcount.spec.tree.leaves import Finder, Leaf
from hfcount.text import plural, printable
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.dtype_changes import Retyped, report_dtypes
from hfcount.verifier.findings import Check, Outcome, TensorFacts
from hfcount.verifier.folded_names import fold
from hfcount.verifier.header_view import HeaderView
from hfcount.verifier.totals import report_no_total_size, report_total_size

_Misshapen = tuple[Leaf, str, tuple[int, ...]]
"""A leaf, the name of one of its tensors, and the shape that it is stored in."""


def check_files(c: Comparison, outcome: Outcome) -> None:
    """HF003, HF004: every file is complete and has a valid header."""
    check_shards(c, [shard for _, shard in sorted(c.headers.shards.items())], outcome)


def check_shards(c: Comparison | None, shards: Sequence[Shard], outcome: Outcome) -> None:
    """HF003, HF004 for some of the files."""
    if broken := [shard for shard in shards if shard.problem is not None]:
        _report_broken(c, broken, outcome)
    for shard in shards:
        if shard.header and shard.size is not None and shard.size != shard.header.file_bytes:
            _report_size(shard, shard.size, outcome)


def check_layout(c: Comparison, outcome: Outcome) -> None:
    """HF205, HF206: the index against the headers, both ways, and tensors in two files."""
    view, index = c.headers, c.index
    if view.twice:
        _report_twice(c, view, index, outcome)
    doubled = {name for name, _, _ in view.twice}
    omitted = [(name, file) for name, file in view.omitted if name not in doubled]
    names = [*view.gone, *(name for name, _, _ in view.moved), *(name for name, _ in omitted)]
    if not names or index is None:
        return
    from hfcount.verifier.rules.hf205_index_header_disagree import IndexHeaderDisagree

    outcome.report(
        IndexHeaderDisagree(
            expected=len(view.entries),
            observed=len(index.weight_map),
            file=INDEX,
            **_stored(view, names),
            gone=(len(view.gone), view.gone[0], index.weight_map[view.gone[0]]) if view.gone else None,
            moved=(len(view.moved), *view.moved[0]) if view.moved else None,
            omitted=(len(omitted), *omitted[0]) if omitted else None,
        )
    )


def _report_twice(c: Comparison, view: HeaderView, index: Index | None, outcome: Outcome) -> None:
    from hfcount.verifier.loaders.labels import NEWEST, reader_of
    from hfcount.verifier.rules.hf206_duplicate_tensor import DuplicateTensor

    name, first_file, second_file = view.twice[0]
    means = index.weight_map if index else {}
    # Of each, the file that the index does not mean; of all, where it means one of the two.
    left = sorted({first if means.get(name) == second else second for name, first, second in view.twice})
    known = all(means.get(name) in pair for name, *pair in view.twice)
    # Files are read in the order of their names, and the last of two tensors stays.
    read = index is not None and not index.pickled and {first_file, second_file} <= index.shards
    outcome.report(
        DuplicateTensor(
            observed=(first_file, second_file),
            file=left[0] if known else second_file,
            **_stored(view, [name for name, _, _ in view.twice]),
            fix=f"Save {named(left)} again without them." if known else DuplicateTensor.remedy,
            first=name,
            meant=means.get(name) if known else None,
            left=left,
            taken=max(first_file, second_file) if read and reader_of(c) == NEWEST else "",
        )
    )


def check_tensors(c: Comparison, outcome: Outcome) -> None:
    """HF301 to HF304: stored shapes and dtypes against the blueprint's shapes and the declared dtype."""
    misshapen: list[_Misshapen] = []
    retyped: list[Retyped] = []
    compared, spell, entries = 0, c.spelling, c.headers.entries
    for leaf, count in c.match.listed:
        if not count or leaf.presence == "obsolete" or leaf.dtypes is not None:  # it is not loaded, or it is packed
            continue
        shape, usual = tuple(map(int, leaf.shape)), "I64" if leaf.whole else c.declared
        for name in c.match.names(leaf):
            entry = entries.get(spell.get(name, name) if spell else name)
            if entry is None:
                continue
            compared += 1
            if entry[1] != shape and not _is_single(c, leaf, entry[1]):
                misshapen.append((leaf, name, entry[1]))
            if entry[0] != usual and not (c.packed and c.packed.keeps(leaf, entry[0])):
                retyped.append((leaf, name, entry[0]))
    _check_shapes(c, compared, misshapen, outcome)
    report_dtypes(c, retyped, outcome)


def _check_shapes(c: Comparison, compared: int, misshapen: Sequence[_Misshapen], outcome: Outcome) -> None:
    allotted = set(_allotted(c, misshapen)) if misshapen else set[str]()
    misshapen = [tensor for tensor in misshapen if tensor[1] not in allotted]
    turned = [tensor for tensor in misshapen if _is_turned(c, tensor[0], tensor[2])]
    wrong = [tensor for tensor in misshapen if not _is_turned(c, tensor[0], tensor[2])]
    if compared:
        text = f"{plural(len(turned), 'tensor')} transposed" if turned else ""
        text = text or (f"{plural(len(allotted), 'tensor')} joined when they are loaded" if allotted else "")
        outcome.checks.append(Check("shapes", compared, compared - len(wrong), text))
    if wrong:
        _report_shapes(c, wrong, outcome)
    if turned:
        _report_turned(c, [(leaf, name) for leaf, name, _ in turned], outcome)


def _allotted(c: Comparison, misshapen: Sequence[_Misshapen]) -> Iterator[str]:
    """The tensors that the reference joins, and that have the right number of rows together."""
    stored = {name: (tuple(map(int, leaf.shape)), shape) for leaf, name, shape in misshapen}
    for ends in c.blueprint.spellings.allotted:
        for name in stored:
            group = [name.removesuffix(ends[0]) + end for end in ends] if name.endswith(f".{ends[0]}") else []
            if not group or any(other not in stored for other in group):
                continue
            rows = [sum(shapes[place][0] for shapes in map(stored.__getitem__, group)) for place in (0, 1)]
            widths = {shape[1:] for other in group for shape in stored[other]}
            if rows[0] == rows[1] and len(widths) == 1:
                yield from group


def _is_single(c: Comparison, leaf: Leaf, shape: tuple[int, ...]) -> bool:
    """Whether it is one number either way, where the library takes a scalar for a list of one and the other way."""
    return c.weights.layout.reader == "open_clip" and {shape, tuple(map(int, leaf.shape))} == {(), (1,)}


def _is_turned(c: Comparison, leaf: Leaf, shape: tuple[int, ...]) -> bool:
    """Whether only the last two dimensions are swapped, and the reference takes that, too."""
    expected = tuple(map(int, leaf.shape))
    return shape == (*expected[:-2], *expected[:-3:-1]) and leaf.name.endswith(c.blueprint.spellings.transposed or "\n")


def _report_turned(c: Comparison, turned: list[tuple[Leaf, str]], outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf212_layout_differs import Transposed

    leaf, first = turned[0]
    names = [c.spelling.get(name, name) for _, name in turned]
    outcome.report(
        Transposed(
            subject=c.subject,
            expected=tuple(map(int, leaf.shape)),
            observed=c.headers.entries[c.spelling.get(first, first)].shape,
            **_stored(c.headers, names),
        )
    )


def _report_shapes(c: Comparison, wrong: Sequence[_Misshapen], outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf301_shape_differs import ShapeDiffers

    (leaf, _, observed), names = wrong[0], [name for _, name, _ in wrong]
    elements, size = c.headers.sizes(c.spelling.get(name, name) for name in names)
    outcome.report(
        ShapeDiffers(
            subject=c.subject,
            expected=tuple(map(int, leaf.shape)),
            observed=observed,
            tensors=tuple(fold(names)),
            count=len(names),
            parameters=elements,
            bytes=size,
        )
    )


def check_bytes(c: Comparison, outcome: Outcome) -> None:
    """HF401, HF402 at depth headers: the bytes that the index claims, against those in the headers."""
    view, index = c.headers, c.index
    outcome.dtypes = view.elements
    outcome.stored = sum(outcome.dtypes.values())
    outcome.proven = view.complete
    if index is None:
        return
    if not index.total_size:
        if index.total_size is None or view.data_bytes:  # else it is right
            report_no_total_size(index, outcome)
        return
    if not view.complete:
        return  # the sum is unknown, and the absent or damaged files have findings of their own
    claim, listed = index.total_size, view.data_bytes
    if view.omitted or view.twice:
        listed = sum(entry.end - entry.begin for name, entry in view.entries.items() if name in index.weight_map)
    explained = _explained(c, listed)
    text, booleans = f"{plural(len(view.entries), 'tensor')} in the headers", outcome.dtypes.get("BOOL", 0)
    if booleans and claim == listed - booleans + booleans // 8:
        explained.add(claim)
        text += ", with 1/8 byte for each boolean, as older writers counted them"
    expected = claim if claim in explained else listed
    outcome.checks.append(Check("total_size", expected, claim, text))
    # Where shapes differ and the claim is what the config asks for, the files are wrong and not the claim.
    if expected != claim and not (c.reading and outcome.has("HF301")):
        report_total_size(claim, listed, outcome, **_reason(c, claim))


def _explained(c: Comparison, listed: int) -> set[int]:
    """The sums that are right, or that findings of their own explain: of missing, duplicate and omitted tensors."""
    view, data = c.headers, c.headers.data_bytes
    sums = {listed, data, view.sizes(view.entries)[1] if view.twice else data}
    if c.names and c.declared:
        find, width = Finder(c.blueprint.leaves).find, dtypes.width(c.declared)
        gone = sum(leaf.size for leaf in map(find, view.gone) if leaf)
        sums |= {listed + width * gone, data + width * (gone + c.names.missing_elements)}
    if c.names:  # writers once counted what two names share once
        sums.add(listed - sum(c.bytes(leaf, count) or 0 for leaf, count in c.names.extra("tied")))
    return sums


def _reason(c: Comparison, claim: int) -> dict[str, Any]:
    if claim == sum(shard.size or 0 for shard in c.headers.shards.values()):
        # Some tools that pack weights sum up files, and the sum is right.
        return {"files": True, "severity": "note" if c.packed else "error"}
    return {"reading": None if c.reading is None else str(c.reading)}


def _report_broken(c: Comparison | None, broken: Sequence[Shard], outcome: Outcome) -> None:
    """Reports all broken files in one finding."""
    from hfcount.verifier.rules.hf003_invalid_header import InvalidHeader

    first, text = broken[0], broken[0].problem or ""
    if len(broken) > 1:
        names = ", ".join(printable(shard.name) for shard in broken[:3])
        more = f" and {len(broken) - 3:,} more" if len(broken) > 3 else ""
        text = f"{text} {len(broken):,} files are broken: {names}{more}."
    outcome.report(
        InvalidHeader(file=first.name, fix=first.fix or (_dispensable(c, broken) if c else None), statement=text)
    )


def _dispensable(c: Comparison, broken: Sequence[Shard]) -> str | None:
    """The fix for files that hold only copies of tied weights, by the index; None for others."""
    ties = Finder(leaf for leaf in c.blueprint.leaves if leaf.tied_to)
    files = {shard.name for shard in broken}
    held = {name: ties.find(name) for name, file in (c.index.weight_map if c.index else {}).items() if file in files}
    for name, leaf in held.items():
        if None not in held.values() and leaf:
            removed = "the files and their entries" if len(held) > 1 else "the file and its entry"
            return f"{printable(name)} is tied to {leaf.tied_to}: remove {removed} in the index."
    return None


def _report_size(shard: Shard, size: int, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf004_truncated_shard import OtherSize

    header = shard.header
    assert header is not None
    expected, data = header.file_bytes, 8 + header.length
    past = [name for name, entry in header.tensors.items() if data + entry.end > size]
    outcome.report(
        OtherSize(
            expected=expected,
            observed=size,
            file=shard.name,
            tensors=tuple(fold(past)),
            count=len(past),
            parameters=sum(prod(header.tensors[name].shape) for name in past),
            bytes=abs(size - expected),
            header=header.length,
            data=header.data,
        )
    )


def _stored(view: HeaderView, names: list[str]) -> TensorFacts:
    """The facts of the tensors of these names."""
    elements, size = view.sizes(names)
    return {"tensors": tuple(fold(names)), "count": len(names), "parameters": elements, "bytes": size}
