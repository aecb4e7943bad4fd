"""Cause: one shard is from another model."""

from collections.abc import Iterator

from hfcount.text import printable
from hfcount.verifier.causes.case import Case, Cause, listed, sentence
from hfcount.verifier.causes.hints import agreed, sights
from hfcount.verifier.causes.stored_rows import Difference, StoredRows, compare
from hfcount.verifier.comparison import Comparison

_FOLLOWING = {"HF205", "HF206", "HF401"}


def mixed(case: Case) -> Iterator[Cause]:
    """All that differs is in one file, and with other sizes all that this file holds would fit."""
    c = case.comparison
    if c.view is None or len(c.view.shards) < 2 or c.packed or c.match.taken or not case.difference.misshapen:
        return
    held = {
        file: StoredRows.of({name: entry.shape for name, entry in shard.header.tensors.items()})
        for file, shard in c.view.shards.items()
        if shard.header
    }
    differences = {file: compare(case.blueprint.leaves, stored) for file, stored in held.items()}
    odd = [file for file, difference in differences.items() if any(difference.counts[1:])]
    if len(odd) != 1 or not _several(differences[odd[0]]) or not _within(c, odd[0]):
        return
    yield from _of_another(case, odd[0], differences[odd[0]], held[odd[0]])


def _of_another(case: Case, file: str, difference: Difference, stored: StoredRows) -> Iterator[Cause]:
    """A file is another model's if all that it holds would fit with other sizes."""
    hints = [hint for hint in agreed(sights(case.blueprint, difference, stored)) if not _counted(hint.noun)]
    made = case.with_changes({hint.key: hint.fits for hint in hints})
    if made and hints and not any(compare(made[0].leaves, stored).counts[1:]):
        where = listed([f"{hint.key} {hint.fits:,} would be right" for hint in hints])
        text = f"only tensors in {printable(file)} differ ({where}); the other files fit the config"
        advice = "Use the file that was saved with the others."
        yield Cause(case.open | _FOLLOWING, sentence(f"{text}. The file is from another model"), advice)


def _counted(noun: str) -> bool:
    """Whether something was counted, of which one file need not have all."""
    return noun in ("layer", "expert")


def _several(difference: Difference) -> bool:
    """Whether more than one layer, and more than one tensor, have other shapes."""
    layers = {number for _, row in difference.misshapen for number in (row.numbers[0] if row.numbers else ())}
    return len(difference.misshapen) > 1 and len(layers) != 1


def _within(c: Comparison, file: str) -> bool:
    """Whether the index and the headers disagree on this file alone, and nothing is missing elsewhere."""
    index, view = c.index.weight_map if c.index else {}, c.headers
    places = [{index.get(name, "")} for name in view.gone] + [{first, second} for _, first, second in view.moved]
    places += [{first, second} for _, first, second in view.twice] + [{files} for _, files in view.omitted]
    return all(file in files for files in places) and (not c.match.missing_count or bool(view.gone))
