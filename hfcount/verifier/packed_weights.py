"""Checks packed weights: names, settings, sizes and headers of each module."""

from collections.abc import Iterable, Sequence

from hfcount.formats.dtypes import width
from hfcount.quantization.layout import Layout, PackedTensor
from hfcount.quantization.packing.amounts import Amount, amount
from hfcount.quantization.packing.dtypes_from_total import PackedReading
from hfcount.quantization.packing.expected import unnumbered
from hfcount.quantization.packing.packed import Packed
from hfcount.quantization.packing.split import Segments
from hfcount.quantization.packing.survey import FLOATING, StoredModules
from hfcount.quantization.scheme import Choice
from hfcount.spec.tree.leaves import Leaf
from hfcount.text import plural
from hfcount.verifier import packed_findings
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Check, Outcome
from hfcount.verifier.folded_names import fold
from hfcount.verifier.match import Match
from hfcount.verifier.totals import report_no_total_size, report_total_size

_Shapes = tuple[tuple[int, ...], tuple[int, ...]]
_CACHE = "they are scales of an 8-bit KV cache, for servers that use one (kv-cache-dtype fp8)"
_LATER = "none of the prediction layers is quantised, as when they were added afterwards"
_ZEROS = "the tools of this scheme write a bias for every module; it is zero where the architecture has none"


def check_modules(c: Comparison, outcome: Outcome) -> None:
    """HF502 to HF506: how each module is stored, against what the settings say."""
    packed = c.packing
    packed_findings.report_contradiction(c, packed, outcome)
    packed_findings.report_numbers(packed, outcome)
    if stale := _stale(packed):
        packed_findings.report_stale(packed, stale, outcome)
    else:
        for (choice, layout), modules in _differing(packed.modules).items():
            packed_findings.report_modules(c, packed, choice, layout, modules, outcome)
    if packed.lacking:
        packed_findings.report_lacking(packed, outcome)
    if packed.uncached:
        packed_findings.report_uncached(packed, outcome)
    if packed.fused:
        from hfcount.verifier.rules.hf506_expert_scales_fused import ExpertScalesFused

        outcome.report(ExpertScalesFused(**packed_findings.sums(packed.fused)))
    for leaves, why in ((packed.biases, _ZEROS), (() if packed.scheme.caches else packed.cache, _CACHE)):
        if leaves:
            from hfcount.verifier.rules.hf502_packed_differently import StoredBeside

            stored, place = packed_findings.sums(leaves), packed_findings.where(packed)
            outcome.report(StoredBeside(severity="note", fix=None, **stored, **place, reason=why))


def _stale(packed: Packed[Match]) -> list[StoredModules]:
    """The modules that should be packed, if nothing is of all that is announced; else none."""
    known = not (packed.match.missing_count and packed.match.unexpected)  # else they may be packed in another way
    if not packed.announced or not known or packed.packed or not any(True for _ in packed.scheme.layouts):
        return []
    return [module for module in packed.modules if module.choice.layout]


def _differing(modules: Sequence[StoredModules]) -> dict[tuple[Choice, Layout | None], list[StoredModules]]:
    """The modules that are stored otherwise than the settings say, by how they should be and how they are."""
    groups: dict[tuple[Choice, Layout | None], list[StoredModules]] = {}
    later = not any(module.layout for module in modules if module.leaf.part == "prediction")
    odd = _odd(modules)
    for module in modules:
        choice = odd.get(id(module), module.choice)
        if _is_reportable(choice, module.layout):
            why = _LATER if later and module.leaf.part == "prediction" else choice.why
            groups.setdefault((Choice(choice.layout, why), module.layout), []).append(module)
    return groups


def _is_reportable(choice: Choice, layout: Layout | None) -> bool:
    """Whether this way of storing modules is reported."""
    if choice.layout.alike(layout) if choice.layout else layout is None:
        return choice.noted
    shown = choice.shown and layout is None
    return not (choice.either or shown or (choice.strictly and choice.strictly.alike(layout)))


def _odd(modules: Sequence[StoredModules]) -> dict[int, Choice]:
    """Dense modules that may be stored either way, where others of that name are packed, with how those are."""
    others: dict[Segments, Choice] = {}
    open_ = [module for module in modules if _open(module.choice) and module.leaf.part == "model"]
    for module in open_:
        if module.layout:
            others[unnumbered(module.leaf.segments)] = Choice(module.layout)
    return {
        id(module): others[name]
        for module in open_
        if module.layout is None and (name := unnumbered(module.leaf.segments)) in others
    }


def _open(choice: Choice) -> bool:
    return (choice.either or bool(choice.why and choice.layout)) and not choice.shown


def check_size(c: Comparison, outcome: Outcome) -> None:
    """HF401, HF402 at depth index: the bytes that the index claims, against those of packed tensors."""
    claim = c.index.total_size if c.index else None
    if not claim:
        report_no_total_size(c.index, outcome)
    elif not c.blueprint.unmodeled:  # else the claim includes parts of unknown size
        stored = amount([_times(leaf, count) for leaf, count in c.match.listed if count], c.declared or "F16")
        reading = c.packing.reading
        if reading is None:
            _check_inexact(c, claim, stored, outcome)
        else:
            _check_exact(c, claim, stored, reading, outcome)


def _check_inexact(c: Comparison, claim: int, stored: Amount, outcome: Outcome) -> None:
    """Where no dtypes give the claim."""
    packed = c.packing
    sizes = [(c.weights.sizes or {}).get(name) or 0 for name in c.weights.named]
    files = all(sizes) and sum(sizes) == claim  # some tools that pack weights sum up files
    loose = packed.open or abs(claim - stored.bytes) <= _loose(c.match.listed)
    outcome.proven = packed.complete and not files and not loose
    if packed.complete and loose:  # only the headers tell
        return
    outcome.checks.append(Check("total_size", stored.bytes, claim, f"{plural(stored.tensors, 'tensor')} listed"))
    if packed.complete:
        severity, scheme = ("note", None) if files else ("error", packed.name)
        report_total_size(claim, stored.bytes, outcome, severity=severity, fix=None, files=files, scheme=scheme)


def _check_exact(c: Comparison, claim: int, stored: Amount, reading: PackedReading, outcome: Outcome) -> None:
    """Where dtypes give the claim, but for digits of a text, or without prediction layers."""
    packed = c.packing
    outcome.proven = reading.window < min(_row(packed.packed), _dense_row(c.match.listed))
    outcome.settled = packed.complete and not reading.window and not reading.without
    outcome.dtypes = reading.elements
    outcome.stored = sum(stored.dtypes.values())
    text = reading.text
    if reading.window:
        text += f"; the text that describes the packing may be up to {reading.window:,} bytes shorter"
    outcome.checks.append(Check("total_size", claim, claim, text))
    if reading.without:
        added = [_times(leaf, count) for leaf, count in c.match.listed if count and leaf.part == "prediction"]
        later = amount(added, c.declared or "F16")
        elements, without = sum(later.dtypes.values()), reading.without
        report_total_size(claim, claim + later.bytes, outcome, severity="note", parameters=elements, without=without)


def _row(modules: Iterable[StoredModules]) -> int:
    """The fewest bytes by which another width of the packed matrices would change their sum: a row of 4 bits or more.

    A config gives all layers the width, so that all of them have the row.
    """
    return min((int(module.leaf.count) * int(module.leaf.shape[-1]) // 2 for module in modules), default=1)


def _dense_row(listed: Iterable[tuple[Leaf, int]]) -> int:
    """The fewest bytes by which a parameter that is not packed would differ, if it had a row less: 2 an element."""
    dense = (leaf for leaf, count in listed if count and leaf.size > 1 and leaf.kind == "parameter" and not leaf.dtypes)
    return min((2 * int(leaf.shape[-1]) for leaf in dense), default=1)


def _loose(listed: Iterable[tuple[Leaf, int]]) -> int:
    """By how many bytes scalars may differ that are each of one of several dtypes, as they were calibrated or not."""
    total = 0
    for leaf, count in listed:
        if leaf.dtypes and leaf.size == 1:
            widths = [width(dtype) for dtype in leaf.dtypes]
            total += count * (max(widths) - min(widths))
    return total


def check_tensors(c: Comparison, outcome: Outcome) -> None:
    """HF301, HF303: stored shapes and dtypes of packed tensors against those of their scheme."""
    compared, entries, spell = 0, c.headers.entries, c.spelling
    misshapen: list[str] = []
    first: _Shapes | None = None
    retyped: dict[tuple[str, ...], list[str]] = {}
    for leaf, count in c.match.listed:
        if not count or leaf.dtypes is None:
            continue
        shape, allowed = tuple(map(int, leaf.shape)), leaf.dtypes or FLOATING
        part = PackedTensor("", shape, leaf.dtypes, slack=leaf.slack)
        for name in c.match.names(leaf):
            entry = entries.get(spell.get(name, name) if spell else name)
            if entry is None:
                continue
            compared += 1
            if entry[1] != shape and not part.fits(entry[1]):
                misshapen.append(name)
                first = first or (shape, entry[1])
            if entry[0] not in allowed:
                retyped.setdefault(leaf.dtypes or (c.declared or "floating-point numbers",), []).append(name)
    subject = f"{c.subject} in {c.packing.name}"
    _check_shapes(c, outcome, compared, misshapen, first, subject)
    for dtypes, names in retyped.items():
        from hfcount.verifier.rules.hf303_dtype_class import DtypeClass

        stored = [spell.get(name, name) for name in names]
        stored_dtypes = sorted({entries[name].dtype for name in stored})
        elements, size = c.headers.sizes(stored)
        outcome.report(
            DtypeClass(
                subject=subject,
                expected=dtypes[0],
                observed=stored_dtypes[0] if len(stored_dtypes) == 1 else tuple(stored_dtypes),
                tensors=tuple(fold(names)),
                count=len(names),
                parameters=elements,
                bytes=size,
                dtypes=", ".join(stored_dtypes),
                wanted=" or ".join(dtypes),
            )
        )


def _check_shapes(
    c: Comparison, outcome: Outcome, compared: int, names: Sequence[str], first: _Shapes | None, subject: str
) -> None:
    """HF301; `first` is the shape that the first of the tensors that differ should have, and the one it has."""
    if compared:
        outcome.checks.append(Check("packed_shapes", compared, compared - len(names)))
    if first:
        from hfcount.verifier.rules.hf301_shape_differs import ShapeDiffers

        elements, size = c.headers.sizes([c.spelling.get(name, name) for name in names])
        outcome.report(
            ShapeDiffers(
                subject=subject,
                expected=first[0],
                observed=first[1],
                tensors=tuple(fold(names)),
                count=len(names),
                parameters=elements,
                bytes=size,
            )
        )


def _times(leaf: Leaf, count: int) -> Leaf:
    """The leaf, counted only as often as it is there."""
    if count == leaf.count:
        return leaf
    return leaf.replace(count=count)
