"""The checks that hold for the index and the headers alike: names, copies, claims, keys."""

from hfcount.plan import Blueprint
from hfcount.storage import dtypes
from hfcount.text import plural, printable
from hfcount.tree.leaves import Leaf
from hfcount.verifier import hints, sizes
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Check, Outcome
from hfcount.verifier.folding import fold
from hfcount.verifier.names import AUXILIARY


def check_names(case: Comparison, outcome: Outcome) -> None:
    """HF201, HF202, HF209: the names of the checkpoint against those of the blueprint."""
    match = case.match
    expected = sum(int(leaf.count) for leaf, _ in match.listed if leaf.kind in ("parameter", "buffer"))
    present = expected - match.missing_count + len(match.unexpected)
    outcome.checks.append(Check("tensors", expected, present))
    layers = ""
    if match.missing_count or match.unexpected:
        listed = case.index.weight_map if case.index else case.seen.entries if case.seen else ()
        hint = hints.layers(case.blueprint.leaves, listed, case.blueprint.spec.depth)
        layers = f" {hint}" if hint else ""
    if match.missing_count:
        width = dtypes.width(case.declared) if case.declared else None
        outcome.report(
            "HF201",
            f"the checkpoint lacks {plural(match.missing_count, 'tensor')} of the {expected:,} that {case.subject}"
            f" describes: {first(match.missing)}.{layers or _untied(case)} Add what is missing, or correct the config.",
            match.missing,
            match.missing_count,
            match.missing_elements,
            match.missing_elements * width if width else None,
        )
    if match.unexpected:
        rows = fold(match.unexpected)
        outcome.report(
            "HF202",
            f"the checkpoint has {plural(len(match.unexpected), 'tensor')} that {case.subject} does not describe:"
            f" {first(rows)}.{layers} Correct the config, or drop what does not belong to the model.",
            rows,
            len(match.unexpected),
            *_sizes_seen(case, match.unexpected),
        )
    if match.renamed:
        found, wanted = match.renamed[0]
        outcome.report(
            "HF209",
            f"{plural(len(match.renamed), 'name')} differ from what {case.subject} calls them in prefix or spelling"
            f" alone, such as {printable(found, 120)} for {wanted}. Loaders accept both.",
            fold(found for found, _ in match.renamed),
            len(match.renamed),
        )


def check_heads(case: Comparison, outcome: Outcome) -> None:
    """HF210: heads that `architectures` does not name."""
    found = case.match.heads
    if not found:
        return
    absent = f" and {first([leaf.name for leaf in case.match.headless])} is not" if case.match.headless else ""
    outcome.report(
        "HF210",
        f"{first([leaf.name for leaf in found])} is stored{absent}, though architectures names {case.subject}. Name the"
        " class whose head is meant.",
        [leaf.name for leaf in found],
        len(found),
        sum(leaf.size for leaf in found),
        _total_bytes(case, [(leaf, 1) for leaf in found]),
    )


def check_copies(case: Comparison, outcome: Outcome) -> None:
    """HF203, HF204: what is stored beyond the parameters, and harmless."""
    for kind, code in (("tied", "HF203"), ("legacy", "HF204")):
        found = case.match.of_kind(kind)
        if not found:
            continue
        count = sum(count for _, count in found)
        elements = sum(count * leaf.size for leaf, count in found)
        tied = found[0][0].to
        what = f"a copy of {tied}, which the config ties it to" if tied else "which loaders skip"
        outcome.report(
            code,
            f"{plural(count, 'tensor')} of {plural(elements, 'element')} in all, {what}: {first([found[0][0].name])}."
            " No parameters are counted for it.",
            [leaf.name for leaf, _ in found],
            count,
            elements,
            _total_bytes(case, found),
        )


def check_auxiliary(case: Comparison, outcome: Outcome) -> None:
    """HF207, HF208: multi-token-prediction layers, which are no part of the model proper."""
    announced = [leaf for leaf, _ in case.match.listed if leaf.kind in AUXILIARY]
    stored = case.match.of_kind(*AUXILIARY)
    count, elements = sum(count for _, count in stored), sum(count * leaf.size for leaf, count in stored)
    if stored:
        outcome.report(
            "HF208",
            f"{plural(count, 'tensor')} of {plural(elements, 'element')} belong to multi-token-prediction layers,"
            f" stored beside the model: {first([leaf.name for leaf, _ in stored])}. They are counted apart.",
            [leaf.name for leaf, _ in stored],
            count,
            elements,
            _total_bytes(case, stored),
        )
    elif announced and case.blueprint.spec.announces("mtp"):
        names = [leaf.name for leaf in announced]
        outcome.report(
            "HF207",
            f"the config announces multi-token-prediction layers, and none is stored: {first(names)}. The model proper"
            " is complete without.",
            names,
            sum(int(leaf.count) for leaf in announced),
            sum(leaf.elements for leaf in announced),
            None,
        )


def check_total_parameters(case: Comparison, outcome: Outcome) -> None:
    """HF403: the parameters that the index claims."""
    claim, total = case.index.total_parameters if case.index else None, case.blueprint.total
    if claim is None or case.blueprint.asides:
        return
    outcome.checks.append(Check("total_parameters", total, claim))
    if claim == total:
        return
    leaves = case.blueprint.leaves
    tied = sum(leaf.elements for leaf in leaves if leaf.kind == "tied")
    buffers = sum(leaf.elements for leaf in leaves if leaf.kind == "buffer")
    flat = sum(leaf.elements for leaf in leaves if leaf.kind == "parameter" and len(leaf.shape) == 1)
    reasons = {  # the simplest last, so that it stands where two come to the same
        flat: "it counts vectors alone, which is what one rank sees of weights that ZeRO-3 has partitioned",
        total + tied + buffers: "it counts the tied head twice, and buffers",
        total + buffers: "it counts buffers, too",
        total + tied: "it counts the tied head twice",
    }
    outcome.report(
        "HF403",
        f"metadata.total_parameters is {claim:,}, and the model has {total:,} parameters:"
        f" {reasons.get(claim, f'{abs(claim - total):,} ' + ('more' if claim > total else 'fewer'))}. Write the index"
        " again, or drop the number.",
        parameters=abs(claim - total),
    )


def check_unread_keys(blueprint: Blueprint, outcome: Outcome) -> None:
    """HF102: keys that may change the model and that nobody read."""
    if blueprint.unread:
        keys = ", ".join(printable(key, 60) for key in blueprint.unread)
        outcome.report(
            "HF102",
            f"{blueprint.spec.family} does not read {keys}. If one of them changes the model, the count is off.",
        )


def check_total_size(case: Comparison, outcome: Outcome) -> None:
    """HF302, HF401, HF402 at depth index: the bytes that the index claims, against the blueprint's."""
    match, claim = case.match, case.index.total_size if case.index else None
    if not claim:
        report_no_total_size(claim, outcome)
        return
    if case.blueprint.asides:
        return  # parts of unknown size are among them
    if case.reading is not None:
        _accept(case, case.reading, claim, outcome)
        return
    width = dtypes.width(case.declared) if case.declared else 2
    expected = match.weights * width + match.buffers * 4
    listed = f"{match.weights + match.buffers:,} elements listed"
    outcome.proven = not match.unexpected  # the bytes were compared, and differ
    if match.missing_count and sizes.exact(claim, match.weights + match.missing_elements, match.buffers, case.declared):
        listed += f", and the {match.missing_elements:,} missing make up the rest"
    elif match.unexpected and claim >= expected:
        listed += f", and {plural(len(match.unexpected), 'tensor')} of unknown size"
    else:
        outcome.report(
            "HF401",
            f"metadata.total_size is {claim:,} bytes, and the {match.weights + match.buffers:,} elements listed have"
            f" {expected:,} bytes at {plural(width, 'byte')} each: {abs(claim - expected):,}"
            f" {'more' if claim > expected else 'fewer'} are claimed, and no other width accounts for them. Either the"
            " index is stale or the config is of another size.",
            bytes=abs(claim - expected),
        )
    outcome.checks.append(Check("total_size", expected, claim, listed))


def report_no_total_size(claim: int | None, outcome: Outcome) -> None:
    """HF402."""
    outcome.report(
        "HF402",
        f"the index gives {'0 for' if claim == 0 else 'no'} metadata.total_size, so it does not say how many bytes"
        " its tensors have. Write it again with total_size.",
    )


def first(rows: list[str]) -> str:
    """The first of some folded names, and how many more there are."""
    shown = ", ".join(printable(row, 120) for row in rows[:3])
    return shown + (f" and {plural(len(rows) - 3, 'more row')}" if len(rows) > 3 else "")


def _accept(case: Comparison, reading: sizes.Reading, claim: int, outcome: Outcome) -> None:
    text = str(reading)
    if case.declared is None:
        text += ", the width that makes it exact, since the config names no dtype"
    outcome.checks.append(Check("total_size", claim, claim, text))
    outcome.proven = True
    outcome.settled = not (case.match.missing_count or case.match.unexpected)
    outcome.stored, outcome.dtypes = reading.weights + reading.buffers, reading.by_dtype
    own = dtypes.width(case.declared) if case.declared else reading.width
    if reading.width != own:
        outcome.report(
            "HF302",
            f"the config declares {case.blueprint.spec.dtype} ({plural(own, 'byte')} an element), and total_size"
            f" {claim:,} is exact at {plural(reading.width, 'byte')} an element. Set dtype to what is stored.",
            parameters=reading.weights,
            bytes=reading.weights * reading.width,
        )


def _untied(case: Comparison) -> str:
    """A word on a head that is missing because it is shared."""
    missing = [leaf for leaf, count in case.match.listed if leaf.component == "lm_head" and leaf.kind == "parameter"]
    if any(leaf.name in case.match.missing for leaf in missing) and not case.blueprint.spec.tied:
        return " tie_word_embeddings was read as false; if the head shares the embedding, it should be true."
    return ""


def _sizes_seen(case: Comparison, names: list[str]) -> tuple[int | None, int | None]:
    """Elements and bytes of tensors that only the headers know."""
    if case.seen is None:
        return None, None
    return case.seen.sizes(names)


def _total_bytes(case: Comparison, found: list[tuple[Leaf, int]]) -> int | None:
    sizes_known = [case.bytes(leaf, count) for leaf, count in found]
    return None if None in sizes_known else sum(size for size in sizes_known if size is not None)
