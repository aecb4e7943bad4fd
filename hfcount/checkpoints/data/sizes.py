"""Finds weights, norms and scales whose size no sound model has, and bits of another dtype than the header says.

Sizes are root mean squares of what is not zero, so that pruning does not change them. What training began with zeros
may be tiny after its first steps; what is smaller than a step of any optimizer is not.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from statistics import median_low
from typing import Any

import numpy as np

from hfcount.checkpoints.data.decode import decoded
from hfcount.checkpoints.data.experts import idle_experts
from hfcount.checkpoints.data.findings import reported
from hfcount.checkpoints.data.float_formats import FLOATS
from hfcount.checkpoints.data.source import Source
from hfcount.checkpoints.data.subjects import Subject, Subjects
from hfcount.spec.tree.leaves import split
from hfcount.verifier.rules.hf911_implausible_size import ImplausibleSize
from hfcount.verifier.rules.hf912_bits_of_another_dtype import BitsOfAnotherDtype
from hfcount.verifier.rules.hf914_scale_of_implausible_size import ScaleOfImplausibleSize

_APART = 0.9e3  # times, by which a tensor is odd beside the same one of other layers
_LARGEST, _SMALLEST = 1e4, 1e-12  # of weights, whatever those of other layers are
_LARGE = 1.0  # below it no weight is odd for being larger than others
_LARGE_NORM = 2e4
_TWO = 2  # layers, of which neither is the usual one
_WRITERS = frozenset(("o_proj", "out_proj", "c_proj", "down_proj", "fc2", "w2", "wo", "dense_4h_to_h", "proj_out"))
_SCALE = 30.0, 1e-12  # the largest and the smallest root mean square of scales of weights
_WEIGHTS = 1e3, 1e-9  # and of weights that 8-bit floats and their scales make
_OTHER_WAY = ("global_scale", "input", "output", "k_scale", "v_scale", "activation", "scale_2", "nested")
_SAMPLED = 4096  # bytes of a matrix whose spread is looked at
_SPREAD = 6.0, 0.5  # standard deviations of binary logarithms that are too wide, and too narrow
_SOUND = 0.7, 3.2  # those of weights: of normal, uniform or Laplace values they are 1.4 to 1.9
_DISTINCT = 100  # values of a sample that are no codes


def implausible(loaded: Sequence[Subject], subjects: Subjects, source: Source) -> Iterator[Any]:
    """The findings about sizes."""
    swapped = [tensor for tensor in loaded if tensor.varied and tensor.place.entry.dtype in _OTHERS]
    seen = {tensor.name: facts for tensor in swapped if (facts := _other_dtype(tensor, source))}
    yield from _of_dtypes(swapped, seen)
    sized = [tensor for tensor in loaded if tensor.name not in seen and _sized(tensor)]
    if not seen:
        yield from _odd(sized)
    yield from _scales(loaded, subjects)


def size(tensor: Subject) -> float:
    """The root mean square of the values that are not zero; 0 if all are, or nothing is summed."""
    tally = tensor.tally
    some = tally.summed - tally.zeros
    return sqrt(tally.squares / some) if some > 0 and tally.squares >= 0 else 0.0


def _sized(tensor: Subject) -> bool:
    plain = tensor.place.entry.dtype in FLOATS and not (tensor.packed or tensor.blocks or tensor.tally.text)
    return plain and (tensor.weights or tensor.norm)


def _odd(sized: Sequence[Subject]) -> Iterator[ImplausibleSize]:
    groups: dict[tuple[str, ...], list[Subject]] = {}
    for tensor in sized:
        groups.setdefault(split(tensor.name)[0], []).append(tensor)
    usual = {name: of for group in groups.values() for name, of in _usual(group).items()}
    odd_of = [
        [tensor for tensor in group if _is_odd(tensor, usual[tensor.name], len(group) > _TWO)]
        for group in groups.values()
    ]
    small = [tensor for tensor in sized if _is_small(tensor, usual[tensor.name])]
    idle = idle_experts(sized, small)
    for odd in odd_of:
        working, rest = [tensor for tensor in odd if tensor.name not in idle], [t for t in odd if t.name in idle]
        for tensors, note in ((working, False), (rest, True)):
            if tensors:
                facts: dict[str, object] = {"observed": size(tensors[0]), "expected": usual[tensors[0].name]}
                facts |= {"severity": "note", "fix": ImplausibleSize.idle} if note else {}
                yield from reported(ImplausibleSize, tensors, facts)


def _is_small(tensor: Subject, usual: float | None) -> bool:
    return usual is not None and _APART * size(tensor) < usual


def _usual(group: Sequence[Subject]) -> dict[str, float | None]:
    """By name, the median size of the tensors of a group, or that of the only other one; None if there is none."""
    sizes = {tensor.name: here for tensor in group if (here := size(tensor))}
    if len(sizes) > _TWO:
        return dict.fromkeys((tensor.name for tensor in group), median_low(sizes.values()))
    return {tensor.name: next((here for name, here in sizes.items() if name != tensor.name), None) for tensor in group}


def _is_odd(tensor: Subject, usual: float | None, several: bool) -> bool:
    """Whether no sound model has it.

    Args:
        several: whether there are enough layers to tell which of them is the odd one.
    """
    here = size(tensor)
    if not here:
        return False
    if tensor.norm:
        beside = usual is not None and here > _APART * usual and here > _APART
        return here > _LARGE_NORM or beside or (here < _SMALLEST and not tensor.tally.zeros)
    if here > _LARGEST or here < _SMALLEST:
        return True
    if usual is None:
        return False
    begun_small = tensor.name.removesuffix(".weight").rpartition(".")[2] in _WRITERS
    return (here > _APART * usual and here > _LARGE) or (_APART * here < usual and several and not begun_small)


_OTHERS = {"BF16": ("F16",), "F16": ("BF16",), "F32": ("BF16", "F16")}
"""Dtypes whose bits a tensor of another dtype may hold."""

Other = tuple[str, Mapping[str, float]]
"""The dtype that bits are of, and the medians under both."""


def _other_dtype(tensor: Subject, source: Source) -> Other | None:
    """The dtype that the bits are of, if that is another one."""
    dtype = tensor.place.entry.dtype
    begin = tensor.place.size // 16 * 4
    (raw,) = source.parts(tensor.place, [begin], _SAMPLED)
    codes = np.frombuffer(raw[: len(raw) // 4 * 4], np.uint8)
    here = _spread(dtype, codes)
    for other in _OTHERS[dtype]:
        there = _spread(other, codes)
        if here is None or there is None or not _is_sound(there):
            continue
        if dtype == "F32":
            wrong = _holds_pairs(other, codes)
        else:
            wrong = here[1] > _SPREAD[0] if dtype == "BF16" else here[1] < _SPREAD[1]
        if wrong:
            return other, {"median": here[0], "other": there[0]}
    return None


def _is_sound(spread: tuple[float, float]) -> bool:
    """Whether a median and a deviation are those of weights."""
    return _SOUND[0] < spread[1] < _SOUND[1] and _SMALLEST < spread[0] < _LARGEST


def _holds_pairs(dtype: str, raw: "np.typing.NDArray[np.uint8]") -> bool:
    """Whether the lower halves of 32-bit floats, which are noise or zeros, spread as weights of a dtype do."""
    lower = _spread(dtype, np.ascontiguousarray(raw.view(np.uint16)[::2]).view(np.uint8))
    return lower is not None and _is_sound(lower)


def _spread(dtype: str, raw: "np.typing.NDArray[np.uint8]") -> tuple[float, float] | None:
    """The median of the magnitudes, and the standard deviation of their binary logarithms; None of few values."""
    values = np.abs(decoded(dtype, raw, wide=False))
    values = values[(values > 0) & np.isfinite(values)].astype(np.float64)
    if 2 * values.size < raw.size // 2 or np.unique(values).size < _DISTINCT:
        return None
    return float(np.median(values)), float(np.log2(values).std())


def _of_dtypes(swapped: Sequence[Subject], seen: Mapping[str, Other]) -> Iterator[BitsOfAnotherDtype]:
    for dtype, other in ((dtype, other) for dtype, others in _OTHERS.items() for other in others):
        tensors = [
            tensor
            for tensor in swapped
            if tensor.place.entry.dtype == dtype and tensor.name in seen and seen[tensor.name][0] == other
        ]
        if tensors:
            facts = {"expected": other, "observed": dtype, **seen[tensors[0].name][1]}
            yield from reported(BitsOfAnotherDtype, tensors, facts)


def _scales(loaded: Sequence[Subject], subjects: Subjects) -> Iterator[ScaleOfImplausibleSize]:
    """Scales that are odd by themselves, by the weights that they make, or beside those of other layers."""
    scales = [tensor for tensor in loaded if _of_weights(tensor) and not _divides(tensor, subjects)]
    groups: dict[tuple[str, ...], list[Subject]] = {}
    for tensor in scales:
        groups.setdefault(split(tensor.name)[0], []).append(tensor)
    odd = [
        tensor
        for group in groups.values()
        for usual in (_usual(group),)
        for tensor in group
        if _is_odd_scale(tensor, usual[tensor.name], _made(tensor, subjects))
    ]
    if odd:
        facts = {"observed": size(odd[0]), "weights": _made(odd[0], subjects)}
        yield from reported(ScaleOfImplausibleSize, odd, facts)


def _of_weights(tensor: Subject) -> bool:
    """Whether it is a scale that weights are multiplied with, as a float of at least 16 bits."""
    kind = FLOATS.get(tensor.place.entry.dtype)
    last = tensor.name.rpartition(".")[2]
    return (
        tensor.scale
        and not tensor.blocks
        and kind is not None
        and kind.bits >= 16
        and not any(word in last for word in _OTHER_WAY)
    )


def _made(tensor: Subject, subjects: Subjects) -> float | None:
    """The size of the weights that a scale makes of 8-bit floats; None where there are none beside it."""
    codes = _codes(tensor, subjects)
    if codes is None or not codes.place.entry.dtype.startswith("F8_E") or codes.place.entry.dtype == "F8_E8M0":
        return None
    return size(codes) * size(tensor)


def _codes(tensor: Subject, subjects: Subjects) -> Subject | None:
    """The weights that a scale is of, where they are called after it."""
    stem = tensor.name.rpartition(".")[2].partition("_scale")[0]
    return subjects.beside(tensor.name, (stem, "weight"))


def _divides(tensor: Subject, subjects: Subjects) -> bool:
    """Whether it may be what outputs are divided by, as BitNet has it beside ternary weights."""
    codes = _codes(tensor, subjects)
    return codes is not None and codes.place.entry.dtype == "U8"


def _is_odd_scale(tensor: Subject, usual: float | None, made: float | None) -> bool:
    here = size(tensor)
    if not here:
        return False
    if made is not None:
        return not _WEIGHTS[1] < made < _WEIGHTS[0]
    beside = usual is not None and (here > _APART * usual or _APART * here < usual)
    return beside or not _SCALE[1] < here < _SCALE[0]
