"""Checks whether a merge added the delta of a LoRA adapter: its two matrices, multiplied and scaled.

Source: peft 0.21, tuners/lora/layer.py (`get_delta_weight`, `update_layer`).
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.adapter.settings import Settings
from hfcount.checkpoints.data.locations import TensorLocation
from hfcount.checkpoints.inspection import Options
from hfcount.diffing.byte_ranges import Run, runs
from hfcount.diffing.comparison import Comparison
from hfcount.diffing.loaded_side import load_side
from hfcount.diffing.tensors import Logical, keyed
from hfcount.diffing.values import local
from hfcount.errors import FetchError, HfcountError
from hfcount.fetcher.model_names import understood

if TYPE_CHECKING:
    from hfcount.checkpoints.data.decode import Numbers

_MOST = 64  # sampled targets, spread over all
_SURE = 0.1  # largest accepted error of the estimated factor
_MOSTLY = 0.3  # largest accepted residual for a merge at another scale
_ALPHA = 8.0  # the default of PEFT
_FIRST, _SECOND = ".lora_A.weight", ".lora_B.weight"
_PREFIX = "base_model.model."

_USUAL = 4.0  # the largest scale at which a merge is taken for meant

_Weights = tuple[Path, Mapping[str, TensorLocation]]
"""A folder, and the places of its tensors."""


class _Fit(NamedTuple):
    """Fit of a target's difference to the adapter's delta.

    Args:
        times: the factor, by least squares.
        sure: the error of the factor.
        else_: the residual as a share of the difference, by root mean square.
    """

    times: float
    sure: float
    else_: float


class MergeScales(NamedTuple):
    """How many times the adapter's delta was added.

    Args:
        times: the factor of all targets: 1 if merged, 0 if not; None if they disagree, or rounding hides it.
        unusual: the factor of some target that is negative or above the usual ones; None if there is none.
    """

    times: float | None
    unusual: float | None

    def unmeant(self, scale: float | None) -> str:
        """Why this is no merge as it was meant; empty if it may be one.

        Args:
            scale: the factor that was meant; None for any usual one.
        """
        added = "the adapter was added with {:.3g} times its scale, but"
        if scale is None and self.unusual is not None:
            return f"{added.format(self.unusual)} more than 0 and at most {_USUAL:g} is usual (--scale allows another)"
        if scale is not None and self.times is not None and abs(self.times - scale) > _near(scale):
            return f"{added.format(self.times)} --scale says {scale:g}"
        return ""


def scales(c: Comparison, named: str, options: Options) -> MergeScales | None:
    """The factors of the adapter's delta in its targets' differences.

    Args:
        named: the adapter, as MODEL.

    Returns:
        None if unknown: for other methods, and without weights.
    """
    if c.a.request is None or c.a.blueprint is None or c.matched is None or find_spec("numpy") is None:
        return None
    asked = c.a.request.replace(model=named, revision=None, subfolder=None, files=None, headers=None, file=None)
    try:
        with load_side(understood(asked), options.of_headers) as adapter:
            if adapter.adapter is None or not _is_plain(adapter.adapter):
                return None
            held = local(adapter)
            fits = [*_fits(c, c.a.blueprint, held, adapter.adapter)]
    except (HfcountError, ValueError):
        return None
    return MergeScales(_often(fits), _unusual(fits))


def _often(results: Sequence[_Fit | None]) -> float | None:
    """The factor common to all fits; None if they disagree, or one is missing."""
    fits = [result for result in results if result is not None]
    if not fits or len(fits) < len(results) or any(fit.sure > _SURE for fit in fits):
        return None
    often = sorted(fit.times for fit in fits)
    alike = often[-1] - often[0] <= 2 * _SURE * max(1.0, abs(often[-1]))
    scaled = alike and all(fit.else_ < _MOSTLY for fit in fits)
    near = next((times for times in (0.0, 1.0) if all(abs(count - times) < _SURE for count in often)), None)
    return near if near is not None else often[len(often) // 2] if scaled else None


def _unusual(fits: Sequence[_Fit | None]) -> float | None:
    """A factor outside (0, `_USUAL`] of a target whose difference is the delta times that, beyond its error."""
    sure = [fit for fit in fits if fit is not None and fit.else_ < _MOSTLY]
    return next((fit.times for fit in sure if fit.times < -fit.sure or fit.times - fit.sure > _USUAL), None)


def _near(scale: float) -> float:
    return _SURE * max(1.0, abs(scale))


def _is_plain(settings: Settings) -> bool:
    """Whether the adapter adds the scaled product of two matrices and nothing else."""
    values = settings.values
    others = ("use_dora", "alpha_pattern", "use_qalora", "lora_ga_config", "arrow_config", "alora_invocation_tokens")
    begun = values.get("init_lora_weights")  # others take what they begin with out of the base
    as_is = not isinstance(begun, str) or begun in ("gaussian", "eva", "orthogonal")
    return values.get("peft_type") == "LORA" and as_is and not any(values.get(name) for name in others)


def _fits(c: Comparison, blueprint: Blueprint, adapter: _Weights, settings: Settings) -> Iterator[_Fit | None]:
    """A fit for each target; None for a matrix that cannot be read."""
    sides = local(c.a), local(c.b)
    both = c.matched.both if c.matched else {}
    key = keyed(blueprint)
    paths = [name.removesuffix(_FIRST) for name in adapter[1] if name.endswith(_FIRST)]
    for path in paths[:: len(paths) // _MOST + 1]:
        pair = both.get(key(f"{path.removeprefix(_PREFIX)}.weight"))
        matrix, other = (_numbers(logical, side) for logical, side in zip(pair or (None, None), sides, strict=True))
        second, first = (_matrix(path + end, adapter) for end in (_SECOND, _FIRST))
        if matrix is None or other is None or second is None or first is None:
            yield None
        else:
            yield _fit(other - matrix, second @ first * _scale(settings, len(first)))


def _scale(settings: Settings, rank: int) -> float:
    alpha = settings.values.get("lora_alpha")
    alpha = float(alpha) if isinstance(alpha, int | float) else _ALPHA
    return alpha / (sqrt(rank) if settings.values.get("use_rslora") else rank)


def _fit(difference: "Numbers", added: "Numbers") -> _Fit | None:
    """The better fit of the delta and its transpose, since a matrix may be stored as inputs × outputs."""
    ways = [matrix for matrix in (added, added.T) if matrix.shape == difference.shape]
    fits = [fit for fit in (_way(difference, way) for way in ways) if fit]
    return min(fits, key=lambda fit: fit.else_, default=None)


def _way(difference: "Numbers", added: "Numbers") -> _Fit | None:
    size, total = float((added * added).sum()), float((difference * difference).sum())
    if not (0 < size < float("inf") and 0 < total < float("inf")):
        return None
    times = float((difference * added).sum()) / size
    rest = max(total - times * times * size, 0.0)
    return _Fit(times, 3 * sqrt(rest / size / difference.size), sqrt(rest / total))


def _matrix(name: str, held: _Weights) -> "Numbers | None":
    folder, places = held
    place = places.get(name)
    if place is None:
        return None
    run = Run(place.file, place.begin, place.begin + place.size, place.entry.dtype)
    return _read(folder, [run], place.entry.shape)


def _numbers(tensor: Logical | None, held: _Weights) -> "Numbers | None":
    ranges = runs(tensor.bytes, held[1]) if tensor and tensor.bytes else None
    alternate = any(any(run.head) for run in ranges or ())
    return _read(held[0], ranges, tensor.shape) if tensor and ranges and not alternate else None


def _read(folder: Path, pieces: list[Run], shape: tuple[int, ...]) -> "Numbers | None":
    """The values of a matrix, as 32-bit or 64-bit floats."""
    import numpy as np  # of the extra `data`

    from hfcount.checkpoints.data.decode import WIDE, decoded
    from hfcount.checkpoints.data.open_files import filled, opened

    if len(shape) != 2:
        return None
    parts = []
    for run in pieces:
        with opened(folder / run.file) as file:
            file.seek(run.begin)
            raw = filled(file, np.empty(run.end - run.begin, np.uint8), folder / run.file)
        parts.append(decoded(run.dtype, raw, run.dtype in WIDE))
    values = np.concatenate(parts)
    if not np.isfinite(values).all():
        raise FetchError("UnreadableFile", "a matrix holds NaN or infinite values")
    return values.reshape(shape)
