"""Finds unusable scales of packed weights: NaN, infinite, zero or negative.

Some quantisers write signs into their scales, and zeros for blocks of zeros: then most tensors of scales have such.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from hfcount.checkpoints.data.findings import reported
from hfcount.checkpoints.data.float_formats import FLOATS
from hfcount.checkpoints.data.source import Codes, Source, search
from hfcount.checkpoints.data.subjects import Subject
from hfcount.verifier.findings import Outcome
from hfcount.verifier.rules.hf905_scale_unusable import ScaleUnusable
from hfcount.verifier.values import index_of

_OF_INPUTS = ("input", "output", "k_scale", "v_scale", "activation")
"""Parts of names of scales that activations are divided by."""

_LEAST = 2.0**-127
"""What a byte of zero stands for as a power of two: less than what any sound weight is scaled by."""

_POWER = "F8_E8M0"
"""What powers of two are stored as, and what they are where they are stored as U8."""

_SIZE = 4096  # inputs and outputs of a matrix, to see what a layout calls its tensors


def unusable(loaded: Sequence[Subject], source: Source, outcome: Outcome) -> Iterator[ScaleUnusable]:
    """The scales that are NaN, infinite, zero or negative."""
    scales = [tensor for tensor in loaded if tensor.scale and tensor.tally.count]
    codes = _codes(scales, outcome)
    yield from reported(ScaleUnusable, _beyond(scales, codes), lambda scale: _coded(source, scale, codes[scale.name]))
    for what, affected in (
        ("NaN", [tensor for tensor in scales if tensor.tally.nan]),
        ("infinite", [tensor for tensor in scales if tensor.tally.infinite]),
    ):
        yield from reported(ScaleUnusable, affected, partial(_located, what, source))
    zero = [tensor for tensor in scales if tensor.tally.constant == 0 and (tensor.blocks or _floating(tensor))]
    rest = [tensor for tensor in scales if tensor not in zero]
    yield from reported(ScaleUnusable, zero, {"observed": "zero"})
    least = [tensor for tensor in rest if tensor.tally.constant == (0 if codes.get(tensor.name) == _POWER else _LEAST)]
    yield from reported(ScaleUnusable, least, {"observed": "2^-127, which is stored as zero"})
    yield from _partly(rest, source)


def _beyond(scales: Sequence[Subject], codes: Mapping[str, str]) -> list[Subject]:
    """Those that hold a code of no number."""
    coded = (scale for scale in scales if scale.name in codes)
    return [scale for scale in coded if scale.tally.most > FLOATS[codes[scale.name]].highest]


def _partly(rest: Sequence[Subject], source: Source) -> Iterator[ScaleUnusable]:
    """Those of which some values are zero or negative."""
    floats = [tensor for tensor in rest if _floating(tensor) and tensor.tally.range]
    yield from _in_part("zero", [tensor for tensor in floats if tensor.tally.zeros], len(floats), source)
    yield from _in_part("negative", [tensor for tensor in floats if tensor.tally.least < 0], len(floats), source)


def _in_part(what: str, scales: Sequence[Subject], among: int, source: Source) -> Iterator[ScaleUnusable]:
    """The scales with some values of a kind: a note for those of weights, unless most of them have such by design."""
    certain = [scale for scale in scales if scale.tally.count == 1 or any(word in scale.name for word in _OF_INPUTS)]
    doubtful = [tensor for tensor in scales if tensor not in certain]
    yield from reported(ScaleUnusable, certain, partial(_located, what, source))
    if 2 * len(doubtful) <= among:
        yield from reported(ScaleUnusable, doubtful, partial(_located, what, source, severity="note"))


def _floating(tensor: Subject) -> bool:
    return tensor.place.entry.dtype in FLOATS


def _codes(scales: Sequence[Subject], outcome: Outcome) -> Mapping[str, str]:
    """The dtype of floats whose codes whole numbers are, by the name of the tensor."""
    layouts = {packing.layout for packing in outcome.packed.packed if packing.layout} if outcome.packed else ()
    parts = {part.suffix: part.code for layout in layouts for part in layout.parts(_SIZE, _SIZE) if part.code}
    dtypes: dict[str, str] = {}
    for tensor in scales:
        if tensor.place.entry.dtype == "U8" and tensor.leaf is not None:
            code = _POWER if _POWER in (tensor.leaf.dtypes or ()) else ""
            code = next((code for suffix, code in parts.items() if tensor.name.endswith(suffix)), code)
            dtypes |= {tensor.name: code} if code else {}
    return dtypes


def _coded(source: Source, tensor: Subject, code: str) -> Mapping[str, Any]:
    """Where the first code of no number above zero is, and how many there are."""
    values, first = search(source, tensor.place, lambda codes: codes > FLOATS[code].highest)
    return {"observed": "NaN", "values": values, "index": index_of(first, tensor.shape)}


def _located(what: str, source: Source, tensor: Subject, **facts: Any) -> Mapping[str, Any]:
    """Where the first value of a kind is, and how many there are, with further facts."""
    spots: Mapping[str, Any] = {"NaN": tensor.tally.first_nan, "infinite": tensor.tally.first_infinite}
    counts: Mapping[str, int] = {"NaN": tensor.tally.nan, "infinite": tensor.tally.infinite}
    if spot := spots.get(what):
        return facts | {"observed": what, "values": counts[what], "index": index_of(spot.number, tensor.shape)}
    kind = FLOATS.get(tensor.place.entry.dtype)
    sign, highest = (kind.sign, kind.sign | kind.highest) if kind else (0, 0)

    def wanted(codes: Codes) -> Any:
        return (codes == 0) | (codes == sign) if what == "zero" else (codes > sign) & (codes <= highest)

    values, first = search(source, tensor.place, wanted)
    return facts | {"observed": what, "values": values, "index": index_of(first, tensor.shape)}
