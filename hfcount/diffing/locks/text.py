"""Renders whether a checkpoint is as it was locked."""

from collections.abc import Iterator

from hfcount.diffing.locks.model import FileChange, LockCheck
from hfcount.diffing.locks.roles import is_training
from hfcount.diffing.text import value
from hfcount.diffing.wrapping import wrapped
from hfcount.text import plural, printable

_MOST = 12  # keys or tensors of a file


def brief_line(result: LockCheck) -> str:
    """One line: the model, whether it agrees, and with which lock."""
    return f"{result.model}: {_summary(result)}"


def render(result: LockCheck) -> str:
    """The text in the terminal's width."""
    return wrapped([brief_line(result), *_lines(result)])


def _summary(result: LockCheck) -> str:
    if result.error is not None:
        return f"not checked against {result.lock}: {result.error.message}"
    if result.agrees:
        return f"as locked in {result.lock}: {_agreeing(result, 'file')}, to depth {result.depth}."
    many = plural(len(result.differences), "file")
    if result.agrees is None:
        return f"not checked against {result.lock}: {many} cannot be read."
    return f"not as locked in {result.lock}: {many} not the same, {_agreeing(result)}."


def _agreeing(result: LockCheck, noun: str = "") -> str:
    many = plural(result.checked, noun) if noun else f"{result.checked:,}"
    return f"{many} {'agrees' if result.checked == 1 else 'agree'}"


def _lines(result: LockCheck) -> Iterator[str]:
    for change in result.differences:
        yield f"  {change.change} {printable(change.file)}: {change.text}."
        yield from _details(change)
    for noted in result.noted:
        trainer = ", only the Trainer of transformers when a training resumes" if is_training(noted.file) else ""
        yield f"  Note: {noted.change} {printable(noted.file)}, which no loader of models reads{trainer}."
    for sentence in result.not_checked:
        yield f"  Not checked: {sentence}."


def _details(change: FileChange) -> Iterator[str]:
    for key in change.keys[:_MOST]:
        yield f"    {key.key}: {value(key, 'a')} -> {value(key, 'b')}"
    for row in change.tensors[:_MOST]:
        yield f"    {row.name}: {row.locked or 'absent'} -> {row.now or 'absent'}"
    left = max(len(change.keys) - _MOST, 0) + max(len(change.tensors) - _MOST, 0)
    if left:
        yield f"    and {left:,} more; --json has all"
