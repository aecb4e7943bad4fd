"""Finds faults in the values of tensors: NaN, infinity, constants, unusable scales, codes out of range."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hfcount.checkpoints.data.constant_tensors import constants
from hfcount.checkpoints.data.copied_weights import copied_weights
from hfcount.checkpoints.data.findings import ranged, reported
from hfcount.checkpoints.data.float_formats import FLOATS
from hfcount.checkpoints.data.repeated_rows import repeated_rows
from hfcount.checkpoints.data.scales import unusable
from hfcount.checkpoints.data.sizes import implausible
from hfcount.checkpoints.data.source import Codes, Source, search
from hfcount.checkpoints.data.subjects import Subject, Subjects
from hfcount.checkpoints.data.tally import Spot
from hfcount.checkpoints.data.zero_parts import zeros_in_part
from hfcount.verifier.findings import Outcome
from hfcount.verifier.rules.hf901_not_a_number import NotANumber
from hfcount.verifier.rules.hf902_infinite import Infinite
from hfcount.verifier.rules.hf903_one_value import OneValue
from hfcount.verifier.rules.hf906_code_out_of_range import CodeOutOfRange
from hfcount.verifier.rules.hf913_text_in_weights import TextInWeights
from hfcount.verifier.values import ValueFinding, index_of

_SHOWN = 48  # bytes of a text that a finding quotes

_TABLES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "g_idx": (("scales",), "the number of a group"),
    "position_ids": (("position_embedding.weight", "position_embeddings.weight"), "a row of the position table"),
    "relative_position_index": (("relative_position_bias_table",), "a row of the bias table"),
}
"""Tensors that count rows of another one of their module: how that may be called, and what is counted."""


def findings(subjects: Subjects, source: Source, outcome: Outcome) -> Iterator[ValueFinding]:
    """Yields the findings about the values of the tensors.

    Raises:
        FetchError: a file cannot be read again, to find where a value is.
    """
    loaded = [tensor for tensor in subjects if tensor.loaded]
    plain = [tensor for tensor in loaded if not tensor.scale]
    nan = [tensor for tensor in plain if tensor.tally.nan]
    infinite = [tensor for tensor in plain if tensor.tally.infinite and not _bounds(tensor)]
    yield from reported(NotANumber, nan, lambda first: _spot(first, first.tally.first_nan, first.tally.nan))
    yield from reported(
        Infinite, infinite, lambda first: _spot(first, first.tally.first_infinite, first.tally.infinite)
    )
    lost, begun, pruned = constants(subjects, loaded, outcome)
    yield from reported(OneValue, lost, lambda tensor: {"observed": tensor.tally.least})
    yield from reported(OneValue, begun, {"observed": 0.0, "begun": True, "severity": "note", "fix": OneValue.training})
    yield from reported(OneValue, pruned, {"observed": 0.0, "severity": "note", "fix": OneValue.idle})
    yield from unusable(loaded, source, outcome)
    yield from _texts(loaded, source)
    yield from zeros_in_part(loaded, source)
    yield from repeated_rows(loaded, source)
    yield from copied_weights(loaded, source, begun)
    yield from implausible(loaded, subjects, source)
    for tensor in loaded:
        yield from _codes(tensor, subjects, source)


def _texts(loaded: Sequence[Subject], source: Source) -> Iterator[TextInWeights]:
    """Text in place of weights; in tensors of any kind that a loader reads."""
    for tensor in loaded:
        if (span := tensor.tally.text) and not (tensor.scale and tensor.place.entry.dtype in ("U8", "F8_E4M3")):
            (raw,) = source.parts(tensor.place, [span.begin], _SHOWN)
            yield from ranged(TextInWeights, [tensor], span, observed=raw.decode("ascii", "replace"))


def _bounds(tensor: Subject) -> bool:
    """Whether it is a mask, which may hold -inf, or a bound that is infinite: no statistics of a batch norm."""
    if not tensor.buffer or tensor.name.endswith(("running_mean", "running_var")) or not tensor.tally.first_infinite:
        return False
    negative = tensor.tally.first_infinite.code & FLOATS[tensor.place.entry.dtype].sign
    return bool(negative) or tensor.tally.infinite == tensor.tally.count


def _spot(tensor: Subject, spot: Spot | None, values: int) -> Mapping[str, Any]:
    number, code = spot or Spot(0, 0)
    return {"observed": tensor.bits(code), "values": values, "index": index_of(number, tensor.shape)}


def _codes(tensor: Subject, subjects: Subjects, source: Source) -> Iterator[CodeOutOfRange]:
    """A flag that is none, or a number of a row that another tensor does not have."""
    limits, dtype = tensor.tally.range, tensor.place.entry.dtype
    names, meaning = _TABLES.get(tensor.name.rpartition(".")[2], ((), "a flag"))
    table = subjects.beside(tensor.name, names)
    most = 1 if dtype == "BOOL" else table.shape[0] - 1 if table and table.shape and dtype[0] in "IU" else None
    if limits is None or most is None or (limits[0] >= 0 and limits[1] <= most):
        return

    def beyond(codes: Codes) -> Any:
        return (codes < 0) | (codes > most)

    values, first = search(source, tensor.place, beyond)
    worst = int(limits[0] if limits[0] < 0 else limits[1])
    facts = {"expected": most, "observed": worst, "meaning": meaning, "values": values}
    yield from reported(CodeOutOfRange, [tensor], facts | {"index": index_of(first, tensor.shape)})
