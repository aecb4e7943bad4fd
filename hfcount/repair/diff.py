"""Renders a repair as a unified diff of text and tensor names."""

from collections.abc import Iterator, Mapping
from difflib import unified_diff
from itertools import islice

from hfcount.repair.state import Proposal, State
from hfcount.repair.working_copy import NewHeader
from hfcount.text import plural, printable
from hfcount.verifier.folded_names import fold

_LINES = 40  # shown of one file
_LONG = 20_000  # lines up to which two texts are compared


def diff(before: State, step: Proposal) -> Iterator[str]:
    """The lines of a diff, safe to print, and shortened where they are many."""
    for name, change in step.changes.items():
        shown = printable(name)
        old = "/dev/null" if before.draft.document(name) is None and isinstance(change, bytes) else f"a/{shown}"
        yield f"--- {old}"
        yield f"+++ {'/dev/null' if change is None else f'b/{shown}'}"
        if isinstance(change, NewHeader):
            yield from _shortened(_names(step.names.get(name, {})))
        elif change is not None:
            yield from _shortened(_lines(before.text(name).splitlines(), change.decode().splitlines()))


def _lines(old: list[str], new: list[str]) -> Iterator[str]:
    if len(old) + len(new) > _LONG:
        yield f"@@ {plural(len(old), 'line')} to {plural(len(new), 'line')} @@"
        return
    yield from islice(unified_diff(old, new, n=2, lineterm=""), 2, None)


def _names(names: Mapping[str, str]) -> Iterator[str]:
    yield f"@@ names of {plural(len(names), 'tensor')} in the header @@"
    old, new = fold(names), fold(names.values())
    pairs = zip(old, new, strict=True) if len(old) == len(new) else names.items()
    for old_name, other in pairs:
        yield from (f"-{old_name}", f"+{other}")


def _shortened(lines: Iterator[str]) -> Iterator[str]:
    for line in islice(lines, _LINES):
        yield printable(line)
    if more := sum(1 for _ in lines):
        yield f"... and {plural(more, 'more line')}"
