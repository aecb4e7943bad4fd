"""What no look at names, shapes, dtypes and sizes can tell: the values of the weights, each with the reason."""

from random import Random

import torch
from tiny import Checkpoint

from spoils.edits import pick, rename
from spoils.names import stack_of


def swap_tensors(c: Checkpoint, rng: Random) -> str | None:
    """Two tensors of one shape and dtype exchanged: every header says what it said, and the values are not compared."""
    shapes: dict[object, set[str]] = {}
    for name, tensor in c.tensors.items():
        if tensor.numel() > 3 and tensor.is_floating_point():
            shapes.setdefault((tensor.shape, tensor.dtype), set()).add(name)
    pairs = [sorted(names) for names in shapes.values() if len(names) > 1]
    if not pairs:
        return None
    one, other = rng.sample(rng.choice(pairs), 2)
    rename(c, lambda name: {one: other, other: one}.get(name, name))
    return f"{one} and {other} exchanged"


def swap_layers(c: Checkpoint, rng: Random) -> str | None:
    """Two layers of one kind exchanged: as two tensors, many times."""
    if not (stack := stack_of(c, rng)) or stack[1] < 1:
        return None
    number = rng.randint(0, stack[1] - 1)
    one, other = (f"{stack[0]}{number + more}." for more in (0, 1))
    mine, theirs = ({n.removeprefix(p): t for n, t in c.tensors.items() if n.startswith(p)} for p in (one, other))
    if {name: t.shape for name, t in mine.items()} != {name: t.shape for name, t in theirs.items()}:
        return None
    pairs = {one + name: other + name for name in mine}
    rename(c, lambda name: (pairs | {new: old for old, new in pairs.items()}).get(name, name))
    return f"{one}* and {other}* exchanged"


def other_values(c: Checkpoint, rng: Random) -> str | None:
    """Noise, NaN or another training step's in place of a tensor: no value is read, for that is a download."""
    name = pick(rng, {name for name, tensor in c.tensors.items() if tensor.is_floating_point() and tensor.numel() > 3})
    value = rng.choice([float("nan"), 1.5, -1.0])
    for tensors in c.shards.values():
        if name in tensors:
            tensors[name] = torch.full_like(tensors[name], value)
    return f"{name} all {value}"


def stale_shard(c: Checkpoint, rng: Random) -> str | None:
    """One shard of another training step, with the same names, shapes and dtypes: as other values."""
    file = pick(rng, c.shards)
    c.shards[file] = {
        name: -tensor if tensor.is_floating_point() else tensor for name, tensor in c.shards[file].items()
    }
    return f"{file} of another step"


KINDS = (swap_tensors, swap_layers, other_values, stale_shard)
