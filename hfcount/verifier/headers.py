"""The checks that need headers: files, layout, shapes, dtypes, bytes."""

from math import prod

from hfcount.formats.index import Index
from hfcount.formats.safetensors import Shard
from hfcount.storage import dtypes
from hfcount.text import plural, printable
from hfcount.tree.leaves import Finder, Leaf
from hfcount.verifier import hints
from hfcount.verifier.checks import first, report_no_total_size
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Check, Outcome
from hfcount.verifier.folding import fold
from hfcount.verifier.header_view import HeaderView


def check_files(seen: HeaderView, index: Index | None, outcome: Outcome) -> None:
    """HF003, HF004, HF005: every file is there, whole, and what it should be."""
    for _, shard in sorted(seen.shards.items()):
        if shard.problem is not None:
            outcome.report("HF003", shard.problem)
        elif shard.header and shard.size is not None and shard.size != shard.header.file_bytes:
            _report_size(shard, shard.size, outcome)
    if seen.absent and index:
        gone = set(seen.absent)
        lost = [name for name, file in index.weight_map.items() if file in gone]
        outcome.report(
            "HF005",
            f"the index names {plural(len(index.shards), 'file')}, and {plural(len(gone), 'file')} of them"
            f" {'is' if len(gone) == 1 else 'are'} not there: {first(seen.absent)}, with"
            f" {plural(len(lost), 'tensor')}. Upload what is missing, or write the index again.",
            fold(lost),
            len(lost),
            None,
            None,
        )


def check_layout(seen: HeaderView, index: Index | None, outcome: Outcome) -> None:
    """HF205, HF206: the index against the headers, both ways, and tensors that are in two files."""
    if seen.twice:
        name, one, other = seen.twice[0]
        outcome.report(
            "HF206",
            f"{plural(len(seen.twice), 'tensor')} in two files, such as {printable(name, 120)} in {printable(one)} and"
            f" {printable(other)}: loaders take either. Delete the files that are out of date.",
            fold(name for name, _, _ in seen.twice),
            len(seen.twice),
            *seen.sizes(name for name, _, _ in seen.twice),
        )
    doubled = {name for name, _, _ in seen.twice}
    omitted = [(name, file) for name, file in seen.omitted if name not in doubled]
    names = [*seen.gone, *(name for name, _, _ in seen.moved), *(name for name, _ in omitted)]
    if not names or index is None:
        return
    parts = []
    if seen.gone:
        file = index.weight_map[seen.gone[0]]
        parts.append(
            f"it puts {plural(len(seen.gone), 'tensor')} where no header has them, such as"
            f" {printable(seen.gone[0], 120)} in {printable(file)}"
        )
    if seen.moved:
        name, said, found = seen.moved[0]
        parts.append(
            f"it puts {plural(len(seen.moved), 'tensor')} in the wrong file, such as {printable(name, 120)} in"
            f" {printable(said)}, which is in {printable(found)}"
        )
    if omitted:
        name, file = omitted[0]
        parts.append(
            f"it omits {plural(len(omitted), 'tensor')} that the headers have, such as {printable(name, 120)} in"
            f" {printable(file)}"
        )
    outcome.report(
        "HF205",
        f"the index lists {len(index.weight_map):,} tensors and the headers hold {len(seen.entries):,}:"
        f" {'; '.join(parts)}. Write the index again from the shards.",
        fold(names),
        len(names),
        *seen.sizes(names),
    )


def check_tensors(case: Comparison, seen: HeaderView, outcome: Outcome) -> None:
    """HF301, HF302: stored shapes and dtypes against the blueprint's shapes and the declared dtype."""
    wrong: list[tuple[Leaf, tuple[int, ...]]] = []
    agreeing: list[Leaf] = []
    misshapen: list[str] = []
    retyped: list[str] = []
    spell, entries = case.spelling, seen.entries
    for leaf, count in case.match.listed:
        # A buffer may be F32 in any model, and loaders skip an obsolete one, whatever its shape.
        dtype = None if leaf.kind == "buffer" else case.declared
        shape = None if leaf.presence == "obsolete" else tuple(map(int, leaf.shape))
        if not count or not (dtype or shape):
            continue
        odd = None
        for name in case.match.names(leaf):
            entry = entries.get(spell.get(name, name) if spell else name)
            if entry is None:
                continue
            if shape is not None and entry[1] != shape:
                misshapen.append(name)
                odd = odd or entry[1]
            if dtype is not None and entry[0] != dtype:
                retyped.append(name)
        if odd is not None:
            wrong.append((leaf, odd))
        elif shape is not None:
            agreeing.append(leaf)
    if wrong:
        _report_shapes(case, seen, misshapen, wrong, agreeing, outcome)
    if retyped:
        _report_dtypes(case, seen, retyped, outcome)


def _report_shapes(
    case: Comparison,
    seen: HeaderView,
    names: list[str],
    wrong: list[tuple[Leaf, tuple[int, ...]]],
    agreeing: list[Leaf],
    outcome: Outcome,
) -> None:
    leaf, found = wrong[0]
    hint = hints.shape(wrong, agreeing)
    if not hint and any(0 in shape for _, shape in wrong):
        hint = " A size of 0 is what one rank saves of weights that ZeRO-3 has partitioned."
    rows = fold(names)
    outcome.report(
        "HF301",
        f"{plural(len(names), 'tensor')} of another shape than {case.subject} gives, such as {first(rows[:1])}:"
        f" expected {_shape(leaf.shape)}, stored {_shape(found)}.{hint} Correct the config, or convert again.",
        rows,
        len(names),
        *seen.sizes(case.spelling.get(name, name) for name in names),
    )


def _report_dtypes(case: Comparison, seen: HeaderView, names: list[str], outcome: Outcome) -> None:
    stored = [case.spelling.get(name, name) for name in names]
    kinds = ", ".join(sorted({seen.entries[name].dtype for name in stored}))
    elements, size = seen.sizes(stored)
    rows = fold(names)
    outcome.report(
        "HF302",
        f"the config declares {case.blueprint.spec.dtype} ({case.declared}), and {plural(len(names), 'tensor')} of"
        f" {plural(elements, 'element')} {'is' if len(names) == 1 else 'are'} stored as {kinds}: {first(rows)}."
        " Set dtype to what is stored, or convert them.",
        rows,
        len(names),
        elements,
        size,
    )


def check_bytes(case: Comparison | None, seen: HeaderView, index: Index | None, outcome: Outcome) -> None:
    """HF401, HF402 at depth headers: the bytes that the index claims, against those in the headers.

    Args:
        case: None where the storage is not modelled, and the headers stand alone.
    """
    outcome.dtypes = seen.elements
    outcome.stored = sum(outcome.dtypes.values())
    outcome.proven = seen.complete
    if index is None:
        return
    if not index.total_size:
        report_no_total_size(index.total_size, outcome)
        return
    if not seen.complete:
        return  # what is not there cannot be added up; the files' own findings say so
    claim, data = index.total_size, seen.data_bytes
    listed = data
    if seen.omitted or seen.twice:
        listed = sum(entry.end - entry.begin for name, entry in seen.entries.items() if name in index.weight_map)
    width = dtypes.width(case.declared) if case and case.declared else 0
    # Tensors that are missing, doubled or omitted have a finding of their own, which explains the sum, too.
    explained = {listed, data, seen.sizes(seen.entries)[1] if seen.twice else data}
    if case and width:
        find = Finder(case.blueprint.leaves).find
        gone = sum(leaf.size for leaf in map(find, seen.gone) if leaf)
        explained |= {listed + width * gone, data + width * (gone + case.match.missing_elements)}
    expected = claim if claim in explained else listed
    outcome.checks.append(Check("total_size", expected, claim, f"{plural(len(seen.entries), 'tensor')} in the headers"))
    if expected == claim:
        return
    outcome.report(
        "HF401",
        f"metadata.total_size is {claim:,} bytes, and the tensors listed have {listed:,}: {abs(claim - listed):,}"
        f" {'more' if claim > listed else 'fewer'} are claimed{_reason(case, seen, claim, listed)}. Write the index"
        " again from the shards.",
        bytes=abs(claim - listed),
    )


def _reason(case: Comparison | None, seen: HeaderView, claim: int, listed: int) -> str:
    if claim == sum(shard.size or 0 for shard in seen.shards.values()):
        return ", which is the sum of the file sizes, headers included"
    if case is None:
        return ""
    tied = sum(case.bytes(leaf, count) or 0 for leaf, count in case.match.extra("tied"))
    if claim == listed - tied:
        return ", which leaves out the tied copy that is stored"
    if case.reading is not None:
        return f", which is what {case.reading} would take: the weights were converted and the claim was not"
    return ""


def _report_size(shard: Shard, size: int, outcome: Outcome) -> None:
    assert shard.header is not None
    where, wanted, data = printable(shard.name), shard.header.file_bytes, 8 + shard.header.length
    if size > wanted:
        outcome.report(
            "HF004",
            f"{where} has {size:,} bytes and should have {wanted:,} (8 + {shard.header.length:,} of header +"
            f" {shard.header.data:,} of data): {size - wanted:,} too many. Upload or download it again.",
            bytes=size - wanted,
        )
        return
    past = [name for name, entry in shard.header.tensors.items() if data + entry.end > size]
    rows = fold(past)
    outcome.report(
        "HF004",
        f"{where} has {size:,} bytes and should have {wanted:,} (8 + {shard.header.length:,} of header +"
        f" {shard.header.data:,} of data): {wanted - size:,} are missing, and"
        f" {plural(len(past), 'tensor')} {'lies' if len(past) == 1 else 'lie'} past the end: {first(rows)}. Upload or"
        " download it again.",
        rows,
        len(past),
        sum(prod(shard.header.tensors[name].shape) for name in past),
        wanted - size,
    )


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(f"{size}" for size in shape) or "a scalar"
