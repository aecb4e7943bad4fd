"""Weight files and the index that are absent, cut, stale or another's."""

from random import Random

import torch
from tiny import INDEX, SINGLE, Checkpoint, State, raw

from spoils.edits import longer, pick
from spoils.names import drop, drop_layer, misspell
from spoils.tensors import change_dtype, cut_or_pad

_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 123456\n" % 7
_PAGE = b"<!DOCTYPE html><html><body>Sign in</body></html>"


def lose_shard(c: Checkpoint, rng: Random) -> str:
    file = pick(rng, c.shards)
    c.files[file] = None
    return f"{file} absent"


def rename_shards(c: Checkpoint, rng: Random) -> str | None:
    """The index of one sharding beside the files of another."""
    if c.index is None:
        return None
    c.shards = {f"part-{number}.safetensors": one for number, one in enumerate(c.shards.values())}
    return "all files under other names than the index's"


def truncate(c: Checkpoint, rng: Random) -> str:
    file = pick(rng, c.shards)
    whole_ = raw(c.shards[file])
    left = rng.choice([0, 4, 8, 100, len(whole_) // 2, len(whole_) - 100, len(whole_) - 4])
    c.files[file] = whole_[:left]
    return f"{file}: {left} of {len(whole_)} bytes"


def append(c: Checkpoint, rng: Random) -> str:
    file = pick(rng, c.shards)
    more = rng.choice([1, 8, 4096])
    c.files[file] = raw(c.shards[file]) + bytes(more)
    return f"{file}: {more} bytes after its end"


def replace_shard(c: Checkpoint, rng: Random) -> str:
    """What a clone without Git LFS, or a page in place of the file, leaves."""
    file, content = pick(rng, c.shards), rng.choice([_POINTER, _PAGE, _POINTER * 100])
    c.files[file] = content
    return f"{file}: {len(content)} bytes that begin {content[:12]!r}"


def mistake_shard(c: Checkpoint, rng: Random) -> str | None:
    """One shard's bytes under another's name, or both exchanged."""
    if len(c.shards) < 2:
        return None
    one, other = rng.sample(sorted(c.shards), 2)
    c.files[one] = raw(c.shards[other])
    if rng.random() < 0.5:
        return f"{one} is a copy of {other}"
    c.files[other] = raw(c.shards[one])
    return f"{one} and {other} exchanged"


def other_values(tensors: State) -> State:
    return {name: -tensor if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}


def add_single_file(c: Checkpoint, rng: Random) -> str | None:
    """model.safetensors beside an index: a copy, a part, other values or other shapes."""
    if c.index is None:
        return None
    tensors, said = (
        c.tensors,
        rng.choice(["a copy", "other values", "a part", "a part of other values", "another model"]),
    )
    if "values" in said:
        tensors = other_values(tensors)
    if "part" in said:
        tensors = dict(list(tensors.items())[: len(tensors) // 2])
    if "model" in said:
        tensors = {name: longer(tensor, 1, 0) if tensor.dim() else tensor for name, tensor in tensors.items()}
    c.files[SINGLE] = raw(tensors)
    return f"model.safetensors beside the index: {said}"


def add_file(c: Checkpoint, rng: Random) -> str:
    """A weight file that no index names: a stale shard, another precision, an adapter."""
    names = ["model-00001-of-00099.safetensors", "consolidated.safetensors", "extra.safetensors"]
    file = rng.choice([*names, "adapter_model.safetensors", "model.fp16.safetensors", "pytorch_model.safetensors"])
    tensors = rng.choice([other_values(c.tensors), {"some.other.weight": torch.ones(3, 5)}])
    c.files[file] = raw(tensors)
    return f"{file} beside, {len(tensors)} tensors of other values"


def duplicate(c: Checkpoint, rng: Random) -> str | None:
    """A tensor in two shards, a copy or other values, the index written again or not."""
    if len(c.shards) < 2:
        return None
    one, other = rng.sample(sorted(c.shards), 2)
    name = pick(rng, c.shards[one])
    tensors = {name: c.shards[one][name].clone()}
    c.shards[other] |= rng.choice([tensors, other_values(tensors)])
    if rng.random() < 0.3:
        c.reindex()
    return f"{name} in {one} and in {other}"


def lose_index(c: Checkpoint, rng: Random) -> str | None:
    if c.index is None:
        return None
    c.files[INDEX] = None
    return "no index"


def change_map(c: Checkpoint, rng: Random) -> str | None:
    """An entry left out, one too many, or one that names another file."""
    if c.index is None:
        return None
    weight_map: dict[str, str] = c.index["weight_map"]
    name, how = pick(rng, weight_map), rng.choice(["left out", "in another file", "in no file", "besides"])
    if how == "left out":
        del weight_map[name]
    elif how == "besides":
        name = rng.choice([name + "_scale", "lm_head.weight"])
        weight_map.setdefault(name, pick(rng, c.shards))
    else:
        others = set(c.shards) - {weight_map[name]} if "another" in how else ()
        weight_map[name] = pick(rng, others or {"model-00009-of-00009.safetensors"})
    return f"index: {name} {how}"


def omit_file(c: Checkpoint, rng: Random) -> str | None:
    """All tensors of one file left out of the index."""
    if c.index is None or len(c.shards) < 2:
        return None
    file = pick(rng, c.shards)
    c.index["weight_map"] = {name: one for name, one in c.index["weight_map"].items() if one != file}
    return f"index: nothing of {file}"


def keep_old_index(c: Checkpoint, rng: Random) -> str | None:
    """The index of before a change."""
    if c.index is None:
        return None
    index = c.copy().index
    said = rng.choice([drop, misspell, drop_layer, cut_or_pad, change_dtype])(c, rng)
    c.index = index
    return f"index of before: {said}"


def change_total_size(c: Checkpoint, rng: Random) -> str | None:
    if c.index is None:
        return None
    size = c.index["metadata"].pop("total_size")
    new = rng.choice(
        [2 * size, 4 * size, size // 2, size // 4, size + 1, size - 4, 0, None, float(size), str(size), -size]
    )
    if new is not None:
        c.index["metadata"]["total_size"] = new
    return f"index: total_size {new!r} where {size} is right"


def change_total_parameters(c: Checkpoint, rng: Random) -> str | None:
    if c.index is None:
        return None
    c.index["metadata"]["total_parameters"] = rng.choice([1, 10**12])
    return "index: total_parameters wrong"


KINDS = (
    lose_shard,
    rename_shards,
    truncate,
    append,
    replace_shard,
    mistake_shard,
    add_single_file,
    add_file,
    duplicate,
    lose_index,
    change_map,
    omit_file,
    keep_old_index,
    change_total_size,
    change_total_parameters,
)
