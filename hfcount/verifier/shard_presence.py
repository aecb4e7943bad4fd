"""Checks that all shards are present, and their sizes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hfcount.fetcher.layout import BIN_INDEX, OPEN_CLIP_OLD, is_consolidated
from hfcount.fetcher.reasons import named
from hfcount.fetcher.weights import IncompleteSet, Weights, incomplete_sets
from hfcount.formats.index import Index
from hfcount.spec.tree.indices import Indices
from hfcount.text import plural, printable
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.file_sizes import Extent, extents
from hfcount.verifier.findings import Outcome
from hfcount.verifier.folded_names import fold

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
        numbers=_numbers(absent, incomplete_sets(weights.there)),
    )
    if weights.unfinished:
        finding = finding.replace(fix=weights.unfinished)
    outcome.report(_with_others(finding, c))


def _numbers(absent: Sequence[str], sets: Sequence[IncompleteSet]) -> str:
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
    explained = finding.replace(others=named(sorted(others)), held=len(others), all=count, stored=stored)
    if match.missing_count:
        return explained
    single = list(others) == [c.weights.layout.single]  # which needs no index
    return explained.replace(fix="Delete the index." if single else "Write the index again from them.")


def check_sizes(c: Comparison, outcome: Outcome) -> None:
    """HF004 at depth index: each file has the size that its tensors need, or the headers have to tell."""
    weights, index = c.weights, c.weights.index
    if outcome.settled and index is not None and weights.sizes is not None and weights.whole:
        _compare_sizes(c, index, weights.sizes, outcome)


def _compare_sizes(c: Comparison, index: Index, sizes: Mapping[str, int | None], outcome: Outcome) -> None:
    needs = extents(c, index.weight_map)
    if needs is None or sum(need.tensors for need in needs.values()) != len(index.weight_map):
        outcome.doubt = "not all sizes of its tensors are known"
        return
    if index.pickled and c.match.extra("tied"):
        return  # whose data two names may share
    files = [_File(file, sizes[file], needs[file], index.pickled) for file in c.weights.there]
    fitting = [file for file in files if file.fits]
    outcome.sized += len(fitting)
    if len(fitting) < len(files):
        outcome.doubt = outcome.doubt or next(file.doubt for file in files if not file.fits)
    # Where one file has what another lacks, the index may just put tensors in the wrong one.
    if sum(file.size or 0 for file in files) < sum(file.least for file in files):
        for file in files:
            if file.size is not None and file.size < file.least:
                _report_short(file, file.size, outcome)


class _File(NamedTuple):
    """A weight file: its bytes, None if they are unknown, and what its tensors need by the index."""

    name: str
    size: int | None
    need: Extent
    pickled: bool

    @property
    def least(self) -> int:
        """The fewest bytes that it may have."""
        return self.need.data if self.pickled else self.need.least

    @property
    def fits(self) -> bool:
        """Whether it has a size that its tensors may need."""
        return self.size is not None and self.least <= self.size and (self.pickled or self.size <= self.need.greatest)

    @property
    def doubt(self) -> str:
        """Why its headers have to tell."""
        from hfcount.verifier.wording import agree  # few files are too small

        name, need, tensors = printable(self.name, 100), self.need, self.need.tensors
        if self.size is None:
            return f"the size of {name} is not known"
        bound = f"at least {need.least:,}" if self.size < need.least else f"at most {need.greatest:,}"
        needs = f"{plural(tensors, 'tensor')} {agree(tensors, 'needs', 'need')} {bound}"
        return f"{name} has {self.size:,} bytes, and its {needs}"


def _report_short(file: _File, size: int, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf004_truncated_shard import OtherSize

    width = _narrower(size, file.need, file.pickled)
    mixed = file.pickled and size >= file.need.data // 4  # some of its tensors may have another dtype
    narrow = "Save it in the dtype of the others, or upload it again if it was cut off."
    unread = "It may be cut off, or hold tensors of another dtype: --depth headers shows which."
    outcome.report(
        OtherSize(
            severity="note" if width or mixed else "error",
            expected=file.least,
            observed=size,
            file=file.name,
            count=file.need.tensors,
            parameters=None,
            bytes=file.least - size,
            fix=narrow if width else unread if mixed else OtherSize.remedy,
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
    if weights.index is not None:
        if c.index is None and weights.absent:  # whose finding says what is missing
            _drop_missing(outcome)
        elif c.index and c.names and c.names.missing_count:
            _check_numbered(c, outcome)
    elif weights.whole and files and files not in ([weights.layout.single], [weights.layout.pickled]):
        _check_unindexed(c, files, outcome)


def _check_numbered(c: Comparison, outcome: Outcome) -> None:
    """HF005: a file that the names of the others count, and that the index does not name."""
    there = {*(c.weights.sizes or ()), *c.weights.files}
    gone = [
        lost_set
        for lost_set in incomplete_sets(c.weights.named)
        # Of a single file nothing but its own name says that others belonged to it.
        if there.isdisjoint(lost_set.names) and 2 * len(lost_set.names) <= lost_set.of
    ]
    if gone:
        _drop_missing(outcome)
    for lost_set in gone:
        _report_lost(c, lost_set, c.match.missing_count if len(gone) == 1 else None, outcome)


def _check_unindexed(c: Comparison, files: Sequence[str], outcome: Outcome) -> None:
    missing = c.names.missing_count if c.names else None
    if missing != 0 and (gone := incomplete_sets(files)):
        _drop_missing(outcome)
        for lost_set in gone:
            _report_lost(c, lost_set, missing if len(gone) == 1 else None, outcome)
        return
    if all(map(is_consolidated, files)) or files == [OPEN_CLIP_OLD]:  # which their loaders take without an index
        return
    # Whatever else is wrong with the tensors is said of them.
    complete = missing == 0 and not any(finding.severity == "error" for finding in outcome.findings)
    from hfcount.verifier.loaders.labels import VERSIONED
    from hfcount.verifier.rules.hf007_missing_index import MissingIndex

    outcome.report(
        MissingIndex(
            subject=c.subject,
            file=c.weights.layout.listing,
            reader=VERSIONED.get(c.weights.layout.reader, c.weights.layout.reader),
            fix=MissingIndex.remedy if complete or c.view is None else None,
            files=named(files),
            many=len(files),
            complete=complete,
            pickled=_pickled_set(c.weights),
        )
    )


def _pickled_set(weights: Weights) -> str:
    """What transformers reads where safetensors have no index: pickled weights, or their index with all its files.

    Source: transformers 5.23, modeling_utils.py, _get_resolved_checkpoint_files.
    """
    files = {name for name in weights.files if "/" not in name}
    if weights.layout.reader != "transformers":
        return ""
    if weights.layout.pickled in files:
        return weights.layout.pickled
    shards = [name for name in files if name.startswith(f"{weights.layout.pickled.removesuffix('.bin')}-")]
    return BIN_INDEX if BIN_INDEX in files and shards and not incomplete_sets(shards) else ""


def _drop_missing(outcome: Outcome) -> None:
    outcome.findings = [finding for finding in outcome.findings if finding.code not in ("HF201", "HF207")]


def _report_lost(c: Comparison, lost_set: IncompleteSet, short: int | None, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf005_missing_shard import MissingByNumber

    finding = MissingByNumber(
        subject=c.subject,
        expected=lost_set.of,
        observed=lost_set.of - len(lost_set.names),
        file=lost_set.names[0],
        count=short or 0,
        parameters=None,
        bytes=None,
        absent=len(lost_set.names),
        files=named(lost_set.names),
        numbers=_numbers(lost_set.names, [lost_set]),
        short=short,
        indexed=c.index is not None,
        all=sum(int(leaf.count) for leaf in c.blueprint.stored_leaves()),
    )
    outcome.report(finding.replace(fix=c.weights.unfinished) if c.weights.unfinished else finding)


def check_pickled(c: Comparison, outcome: Outcome) -> None:
    """HF005 for .bin files without an index, which are all that is known of pickled weights."""
    weights = c.weights
    there = {name for name in weights.files if name.endswith(".bin") and "/" not in name}
    if not weights.named and weights.listed:
        for lost_set in incomplete_sets(name for name in there if name.startswith("pytorch_model")):
            _report_lost(c, lost_set, None, outcome)
