"""Values of config.json changed, one at a time."""

from random import Random
from typing import Any

from tiny import Checkpoint, classes, get, keys, put, whole


def _written(path: tuple[str, ...]) -> str:
    return f"config: {'.'.join(path)}"


def _paths(c: Checkpoint, *kinds: type) -> list[tuple[str, ...]]:
    """Keys of the config, and those that its type has by default."""
    paths = keys(whole(c.config), *kinds)
    return [path for path in paths if len(path) == 1 or isinstance(get(c.config, path[:-1]), dict)]


def change_integer(c: Checkpoint, rng: Random) -> str | None:
    paths = list(keys(c.config, int)) or _paths(c, int)
    path = rng.choice([rng.choice(paths), rng.choice(_paths(c, int) or paths)])
    old = get(c.config, path)
    old = get(whole(c.config), path) if old is None else old
    new = rng.choice(sorted({old + 1, old - 1, old * 2, old // 2, 0, 1} - {old}))
    put(c.config, path, new)
    return f"{_written(path)} {new} in place of {old}"


def flip_boolean(c: Checkpoint, rng: Random) -> str:
    path = rng.choice(_paths(c, bool))
    new = not get(whole(c.config), path)
    put(c.config, path, new)
    return f"{_written(path)} {new}"


def flip_tie(c: Checkpoint, rng: Random) -> str:
    path = rng.choice(
        [path for path in _paths(c, bool) if path[-1] == "tie_word_embeddings"] or [("tie_word_embeddings",)]
    )
    new = not get(whole(c.config), path)
    put(c.config, path, new)
    return f"{_written(path)} {new}"


def change_list(c: Checkpoint, rng: Random) -> str | None:
    """A list of layers, sizes or kinds one entry longer or shorter, or in another order."""
    paths = [path for path in keys(c.config, list) if path != ("architectures",) and get(c.config, path)]
    if not paths:
        return None
    path = rng.choice(paths)
    old: list[Any] = get(c.config, path)
    new = rng.choice([old + old[-1:], old[:-1], old[::-1], old[:1] * len(old), old[1:] + old[:1]])
    put(c.config, path, new)
    return f"{_written(path)} {new} in place of {old}" if new != old else None


def remove_key(c: Checkpoint, rng: Random) -> str | None:
    path = rng.choice([path for path in keys(c.config, int, str, bool, list, float) if path[-1] != "model_type"])
    old = get(c.config, path[:-1]).pop(path[-1])
    return f"{_written(path)} left out, which was {old}"


def change_class(c: Checkpoint, rng: Random) -> str:
    names = [name for name in classes(c.config["model_type"]) if name not in c.config["architectures"]]
    new = rng.choice([*names, "NoSuchClass"])
    c.config["architectures"] = [new]
    return f"config: architectures {new}"


def declare_dtype(c: Checkpoint, rng: Random) -> str:
    new = rng.choice(["float16", "bfloat16", "float32", "float64", "int8", "auto"])
    c.config["dtype"] = new
    return f"config: dtype {new}"


def announce_quantization(c: Checkpoint, rng: Random) -> str:
    """Of weights none of which is packed."""
    packed = {"bits": 4, "group_size": 32}
    schemes = [{"quant_method": "gptq", **packed}, {"quant_method": "awq", **packed}, {"quant_method": "fp8"}]
    c.config["quantization_config"] = rng.choice(schemes)
    return f"config: quantization_config {c.config['quantization_config']}, and nothing is packed"


KINDS = (
    change_integer,
    flip_boolean,
    flip_tie,
    change_list,
    remove_key,
    change_class,
    declare_dtype,
    announce_quantization,
)
