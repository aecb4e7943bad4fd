"""Checks of which files are there, and of their sizes; what lies beside them is in unlisted.py."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hfcount.errors import DocumentError
from hfcount.fetcher.interface import ADAPTER, INDEX, MODULES, SINGLE
from hfcount.fetcher.missing import named
from hfcount.fetcher.weights import Lost, lost
from hfcount.formats.modules import read_modules
from hfcount.text import plural, printable
from hfcount.tree.indices import Indices
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.extents import Extent, extents
from hfcount.verifier.findings import Outcome
from hfcount.verifier.folding import fold

if TYPE_CHECKING:
    from hfcount.verifier.rules.hf005_missing_shard import MissingByIndex

_POINTER = 200  # bytes: a Git LFS pointer has some 130
_PICKLED, _ENTRY = 4_096, 512  # bytes of a .bin file beside its data, and of those for each tensor, at the most
_CLEAR = 16  # times as much data as other bytes, by which the size of a file speaks of its data


def check_absent(c: Comparison, outcome: Outcome) -> None:
    """HF005: every file that the index names is there."""
    weights, index = c.weights, c.weights.index
    view = c.view.absent if c.view and weights.whole else ()
    absent = sorted({*weights.absent, *view})
    if not absent or index is None:
        return
    from hfcount.verifier.rules.hf005_missing_shard import MissingByIndex

    gone = set(absent)
    names = [name for name, file in index.weight_map.items() if file in gone]
    finding = MissingByIndex(
        subject=c.subject,
        expected=len(index.shards),
        observed=len(index.shards) - len(absent),
        file=absent[0],
        tensors=tuple(fold(names)),
        count=len(names),
        parameters=None,
        bytes=None,
        absent=len(absent),
        files=named(absent),
        numbers=_numbers(absent, lost(weights.there)),
    )
    outcome.report(_with_others(finding, c))


def _numbers(absent: Sequence[str], sets: Sequence[Lost]) -> str:
    """Which of a set of numbered files are not there, if that is all that is not."""
    if len(sets) != 1 or sets[0].names != absent:
        return ""
    numbers = sets[0].numbers
    text = " and ".join(map(str, numbers)) if len(numbers) == 2 else str(Indices.of(numbers))
    return f"shard{'s' if len(numbers) > 1 else ''} {text} of {sets[0].of:,}"


def _with_others(finding: "MissingByIndex", c: Comparison) -> "MissingByIndex":
    """The finding with what files hold that are there in place of those that the index names."""
    others = c.headers.shards if c.index is None and c.view else c.beside
    names = {name for shard in others.values() if shard.header for name in shard.header.tensors}
    match = c.names if c.index is None else None if c.announced or c.scheme else c.matched(names)
    if not others or match is None:
        return finding
    count = sum(int(leaf.count) for leaf, _ in match.listed if leaf.presence == "required")
    stored = count - match.missing_count
    found = finding.replace(others=named(sorted(others)), held=len(others), all=count, stored=stored)
    if match.missing_count:
        return found
    single = list(others) == [SINGLE]  # which needs no index
    return found.replace(fix="Delete the index." if single else "Write the index again from them.")


def check_sizes(c: Comparison, outcome: Outcome) -> None:
    """HF004 at depth index: each file has the size that its tensors need, or the headers have to tell."""
    weights, index = c.weights, c.weights.index
    if not outcome.settled or index is None or weights.sizes is None or not weights.whole:
        return
    needs = extents(c, index.weight_map)
    if needs is None or sum(need.tensors for need in needs.values()) != len(index.weight_map):
        outcome.doubt = "not all sizes of its tensors are known"
        return
    if index.pickled and c.match.extra("tied"):
        return  # whose data two names may share
    short: dict[str, int] = {}
    for file in weights.there:
        size, need = weights.sizes[file], needs[file]
        least = need.data if index.pickled else need.least
        if size is not None and least <= size and (index.pickled or size <= need.greatest):
            outcome.sized += 1
            continue
        outcome.doubt = outcome.doubt or _doubt(file, size, need)
        if size is not None and size < least:
            short[file] = least
    # Where one file has what another lacks, the index may just put tensors in the wrong one.
    there = sum(weights.sizes[file] or 0 for file in weights.there)
    if there < sum(needs[file].data if index.pickled else needs[file].least for file in weights.there):
        for file, least in short.items():
            _report_short(file, weights.sizes[file] or 0, least, needs[file], index.pickled, outcome)


def _doubt(file: str, size: int | None, need: Extent) -> str:
    if size is None:
        return f"the size of {printable(file, 100)} is not known"
    bound = f"{need.least:,} at the least" if size < need.least else f"{need.greatest:,} at the most"
    return f"{printable(file, 100)} has {size:,} bytes, and {plural(need.tensors, 'tensor')} of that size need {bound}"


def _report_short(file: str, size: int, least: int, need: Extent, pickled: bool, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf004_truncated_shard import TruncatedShard

    width = _narrower(size, need, pickled)
    narrow = "Save it in the dtype of the others, or upload it again if it was cut off."
    outcome.report(
        TruncatedShard(
            severity="note" if width else "error",
            expected=least,
            observed=size,
            file=file,
            count=need.tensors,
            parameters=None,
            bytes=least - size,
            fix=narrow if width else TruncatedShard.remedy,
            pointer=size < _POINTER,
            narrower=width,
        )
    )


def _narrower(size: int, need: Extent, pickled: bool) -> str | None:
    """The share of the bytes of its data that a file has, where another dtype would explain it."""
    spare = _PICKLED + need.tensors * _ENTRY if pickled else need.greatest - need.data
    if need.data < _CLEAR * spare:
        return None  # nothing tells one from the other
    shares = ((share, need.data // share) for share in (2, 4))
    return next((f"1/{share}" for share, data in shares if data <= size <= data + spare), None)


def check_parts(c: Comparison, outcome: Outcome) -> None:
    """HF005, HF007 where there is no index: files that the names of others count, and the index itself."""
    weights = c.weights
    files = [name for name in weights.there if name in (weights.sizes or ())]
    if weights.index is not None and c.index is None and weights.absent:  # whose finding says what is missing
        _drop_missing(outcome)
    if weights.index is not None or not weights.whole or not files or files == [SINGLE]:
        return
    names = c.names
    complete = names is not None and not names.missing_count
    if not complete and (gone := lost(files)):
        _drop_missing(outcome)
        for one in gone:
            _report_lost(c, one, names.missing_count if names and len(gone) == 1 else None, outcome)
        return
    # Whatever else is wrong with the tensors is said of them.
    complete = complete and not any(finding.severity == "error" for finding in outcome.findings)
    from hfcount.verifier.rules.hf007_missing_index import MissingIndex

    outcome.report(
        MissingIndex(
            subject=c.subject,
            file=INDEX,
            fix=MissingIndex.remedy if complete or c.view is None else None,
            files=named(files),
            many=len(files),
            complete=complete,
        )
    )


def _drop_missing(outcome: Outcome) -> None:
    outcome.findings = [one for one in outcome.findings if one.code not in ("HF201", "HF207")]


def _report_lost(c: Comparison, one: Lost, short: int | None, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf005_missing_shard import MissingByNumber

    outcome.report(
        MissingByNumber(
            subject=c.subject,
            expected=one.of,
            observed=one.of - len(one.names),
            file=one.names[0],
            count=short or 0,
            parameters=None,
            bytes=None,
            absent=len(one.names),
            files=named(one.names),
            numbers=_numbers(one.names, [one]),
            short=short,
            all=sum(int(leaf.count) for leaf in c.blueprint.stored_leaves()),
        )
    )


def check_pickled(c: Comparison, outcome: Outcome) -> None:
    """HF005 for .bin files without an index, which are all that is known of pickled weights."""
    weights = c.weights
    there = {name for name in weights.files if name.endswith(".bin") and "/" not in name}
    if not weights.named and weights.listed:
        for one in lost(name for name in there if name.startswith("pytorch_model")):
            _report_lost(c, one, None, outcome)


def check_modules(c: Comparison, outcome: Outcome) -> None:
    """HF009: what modules.json names has the files that it needs."""
    document = c.weights.companions.get(MODULES)
    if document is None or not c.weights.listed:
        return
    try:
        modules = read_modules(document)
    except DocumentError as error:
        from hfcount.verifier.rules.hf001_malformed_document import MalformedDocument

        outcome.report(MalformedDocument(file=MODULES, fix=error.fix, statement=error.said))
        return
    if lacking := [what for module in modules if (what := module.lacks(c.weights.files))]:
        from hfcount.verifier.rules.hf009_missing_module import MissingModule

        outcome.report(
            MissingModule(
                expected=len(modules),
                observed=len(modules) - len(lacking),
                file=MODULES,
                files=named(lacking),
                many=len(lacking),
            )
        )


def check_adapter(c: Comparison, outcome: Outcome) -> None:
    """HF010: an adapter that transformers applies."""
    weights = c.weights
    if ADAPTER in weights.files and weights.there:
        files = [ADAPTER, *sorted(name for name in weights.apart if name.startswith("adapter_"))]
        from hfcount.verifier.rules.hf010_adapter_beside import AdapterBeside

        outcome.report(AdapterBeside(file=ADAPTER, files=named(files), many=len(files)))
