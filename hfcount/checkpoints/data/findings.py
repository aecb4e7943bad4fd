"""Reports several tensors with the same fault as one finding."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from hfcount.checkpoints.data.byte_span import Span
from hfcount.checkpoints.data.subjects import Subject
from hfcount.verifier.folded_names import fold
from hfcount.verifier.values import RangeFinding, ValueFinding

Rule = TypeVar("Rule", bound=ValueFinding)


def reported(
    rule: type[Rule], subjects: Sequence[Subject], facts: Mapping[str, Any] | Callable[[Subject], Mapping[str, Any]]
) -> Iterator[Rule]:
    """The finding about some tensors, with the facts of the first; nothing if there are none."""
    if subjects:
        first = subjects[0]
        fields = facts(first) if callable(facts) else facts
        yield rule(
            tensor=first.name,
            file=first.place.file,
            shape=first.shape,
            tensors=tuple(fold(tensor.name for tensor in subjects)),
            count=len(subjects),
            parameters=sum(tensor.tally.count for tensor in subjects),
            bytes=sum(tensor.place.size for tensor in subjects),
            **fields,
        )


RangeRule = TypeVar("RangeRule", bound=RangeFinding)


def ranged(rule: type[RangeRule], subjects: Sequence[Subject], part: Span, **facts: Any) -> Iterator[RangeRule]:
    """The finding about a part of the first of some tensors.

    Args:
        part: bytes of the tensor.
    """
    first = subjects[0]
    begin = first.place.begin
    row = first.place.size // first.shape[0] if len(first.shape) > 1 and first.shape[0] else 0
    rows = {"first_row": part.begin // row, "last_row": (part.end - 1) // row} if row else {}
    yield from reported(rule, subjects, {"begin": begin + part.begin, "end": begin + part.end, **rows, **facts})
