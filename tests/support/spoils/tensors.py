"""Tensors of another shape or dtype; the index is written again."""

from collections.abc import Callable
from random import Random

import torch
from tiny import Checkpoint

from spoils.edits import leaf, longer, pick, replace

_FLOATS = ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2")
_OTHERS = ("bool", "int8", "uint8", "int16", "int32", "int64")


def _reshaped(
    c: Checkpoint, rng: Random, want: Callable[[torch.Tensor], bool], edit: Callable[[torch.Tensor], torch.Tensor]
) -> str | None:
    """One tensor in another shape."""
    some = {name for name, tensor in c.tensors.items() if want(tensor)}
    if not some:
        return None
    name = pick(rng, some)
    before = list(c.tensors[name].shape)
    replace(c, lambda n, t: edit(t).contiguous() if n == name else t)
    return f"{name}: {list(c.tensors[name].shape)} in place of {before}"


def cut_or_pad(c: Checkpoint, rng: Random) -> str | None:
    """One row or column more or less."""
    dim, by = rng.choice([0, 0, -1]), rng.choice([1, -1])
    return _reshaped(c, rng, lambda t: t.dim() > 0 and t.shape[dim] > 2, lambda t: longer(t, by, dim))


def resize(c: Checkpoint, rng: Random) -> str | None:
    """A size one more or less wherever it stands, or in the first dimension alone."""
    size = rng.choice(sorted({size for tensor in c.tensors.values() for size in tensor.shape if size > 2}))
    by, first = rng.choice([1, -1]), rng.random() < 0.5

    def edit(_: str, tensor: torch.Tensor) -> torch.Tensor:
        for dim, other in enumerate(tensor.shape):
            tensor = longer(tensor, by, dim) if other == size and not (first and dim) else tensor
        return tensor

    return f"every {'first ' * first}size {size}: {by:+}" if replace(c, edit) else None


def transpose(c: Checkpoint, rng: Random) -> str | None:
    return _reshaped(c, rng, lambda t: t.dim() == 2 and t.shape[0] != t.shape[1], lambda t: t.T)


def transpose_everywhere(c: Checkpoint, rng: Random) -> str | None:
    """Every matrix of one name the other way round, as Conv1D and Linear store theirs."""
    matrices = {leaf(name) for name, tensor in c.tensors.items() if tensor.dim() == 2}
    if not matrices:
        return None
    chosen = pick(rng, matrices)

    def edit(name: str, tensor: torch.Tensor) -> torch.Tensor:
        unlike = tensor.dim() == 2 and tensor.shape[0] != tensor.shape[1]
        return tensor.T.contiguous() if unlike and leaf(name) == chosen else tensor

    return f"{chosen} transposed everywhere" if replace(c, edit) else None


def reshape(c: Checkpoint, rng: Random) -> str | None:
    halves = (lambda t: t.reshape(t.shape[0] // 2, -1), lambda t: t.reshape(t.shape[0] * 2, -1))
    edit = rng.choice([lambda t: t.flatten(), lambda t: t[None], lambda t: t[..., None], *halves])
    return _reshaped(c, rng, lambda t: t.dim() > 1 and t.shape[0] % 2 == 0 and t.shape[-1] % 2 == 0, edit)


def reshape_vector(c: Checkpoint, rng: Random) -> str | None:
    edit = rng.choice([lambda t: t[None], lambda t: t[:, None], lambda t: t[:1]])
    return _reshaped(c, rng, lambda t: t.dim() == 1 and t.shape[0] > 1, edit)


def empty(c: Checkpoint, rng: Random) -> str | None:
    """An entry without data."""
    return _reshaped(c, rng, lambda t: t.numel() > 0, lambda t: t.new_zeros(0))


def change_dtype(c: Checkpoint, rng: Random) -> str | None:
    """Another dtype of one tensor, of all of a name, or of all."""
    new = getattr(torch, rng.choice([*_FLOATS, *_OTHERS]))
    one, much = pick(rng, c.tensors), rng.choice(["one", "name", "all"])
    chosen = {
        name for name in c.tensors if name == one or much == "all" or (much == "name" and leaf(name) == leaf(one))
    }
    changed = replace(c, lambda n, t: t.to(new) if n in chosen and t.dtype != new else t)
    return f"{changed} tensors as {new}, such as {one}" if changed else None


KINDS = (cut_or_pad, resize, transpose, transpose_everywhere, reshape, reshape_vector, empty, change_dtype)
