"""What the ways to spoil a checkpoint share: tensors renamed, dropped, added or replaced, then indexed again."""

import re
from collections.abc import Callable, Collection
from random import Random

import torch
from tiny import Checkpoint, State

EMBEDDING = re.compile(r"(embed_tokens|wte|word_embeddings|embeddings)\.weight$")


def pick(rng: Random, some: Collection[str]) -> str:
    return rng.choice(sorted(some))


def leaf(name: str) -> str:
    """The module's own name and the tensor's: `q_proj.weight`."""
    return ".".join(name.split(".")[-2:])


def rename(c: Checkpoint, edit: Callable[[str], str | None]) -> int:
    """Renames tensors, and drops those whose name becomes None; how many were changed."""
    changed, seen = 0, set[str]()
    for file, tensors in list(c.shards.items()):
        edited: State = {}
        for name, tensor in tensors.items():
            new = edit(name)
            changed += new != name
            if new is not None and new not in seen:
                edited[new] = tensor
                seen.add(new)
        c.shards[file] = edited
        if not edited:
            del c.shards[file]
    c.reindex()
    return changed


def without(c: Checkpoint, gone: Collection[str], said: str) -> str | None:
    if not gone or len(gone) == len(c.tensors):
        return None
    rename(c, lambda name: None if name in gone else name)
    return f"without {said}"


def add(c: Checkpoint, tensors: State, said: str) -> str:
    c.shards[list(c.shards)[-1]].update(tensors)
    c.reindex()
    return said


def replace(c: Checkpoint, edit: Callable[[str, torch.Tensor], torch.Tensor]) -> int:
    changed = 0
    for tensors in c.shards.values():
        for name, tensor in tensors.items():
            tensors[name] = edit(name, tensor)
            changed += tensors[name] is not tensor
    c.reindex()
    return changed


def longer(tensor: torch.Tensor, by: int, dim: int) -> torch.Tensor:
    if by < 0:
        return tensor.narrow(dim, 0, tensor.shape[dim] + by)
    return torch.cat([tensor, tensor.narrow(dim, 0, by)], dim)
