"""Compares architectures with mlx-lm: `python tests/tools/by_mlx_lm.py names CONFIG... > FILE`, then `... judge FILE`.

`names` is run where hfcount is, and writes the tensors that it derives from each config; `judge` is run where mlx-lm
is, which need not be the same environment. There mlx-lm builds a small model of each config, and has to load those
names and shapes, with its own conversion of published checkpoints, and nothing else: it refuses what is missing, what
is left over and what has another shape. A config is a config.json or a file of fixtures/architectures.
"""

import json
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]

_ROPE = {"rope_theta": 10_000.0, "rope_type": "default"}
BESIDE: Json = {
    "max_position_embeddings": 2048,
    "norm_eps": 1e-6,
    "rms_norm_eps": 1e-6,
    "rope_parameters": {"full_attention": _ROPE, "sliding_attention": _ROPE},
    "rope_theta": 10_000.0,
}
"""Keys that bear on no shape, so that recorded facts have none, and that mlx-lm has no defaults for."""


def names(paths: list[str]) -> list[Json]:
    """The tensors of each config."""
    import hfcount

    found = []
    for path in paths:
        values = json.loads(Path(path).read_text())
        config = values["config"] if "judge" in values else values
        tensors = [one for one in hfcount.blueprint(config).tensors() if one.kind != "legacy"]
        found.append(
            {"path": path, "config": config, "names": {one.name: list(map(int, one.shape)) for one in tensors}}
        )
    return found


def judge(one: Json) -> str:
    """How mlx-lm's model of a config differs from the names; empty if it does not."""
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from mlx_lm.utils import _get_classes

    model_class, args_class = _get_classes(one["config"])
    model = model_class(args_class.from_dict({**BESIDE, **one["config"]}))
    weights = {name: mx.zeros(shape) for name, shape in one["names"].items()}
    weights = model.sanitize(weights) if hasattr(model, "sanitize") else weights
    wanted = {name: value.shape for name, value in tree_flatten(model.parameters())}
    given = {name: value.shape for name, value in weights.items()}
    odd = sorted(name for name in wanted.keys() | given.keys() if wanted.get(name) != given.get(name))
    told = [f"{name}: {wanted.get(name)}, and given are {given.get(name)}" for name in odd[:6]]
    return f"{len(odd):,} differ: " + "; ".join(told) if odd else ""


def main(what: str, *given: str) -> int:
    if what == "names":
        print(json.dumps(names(list(given))))
        return 0
    failures = 0
    for one in json.loads(Path(given[0]).read_text()):
        try:
            differs = judge(one)
        except Exception as error:  # a tool for developers: say it and go on with the next
            differs = f"{type(error).__name__}: {str(error)[:200]}"
        print(f"{one['path']}: {differs or 'the same'}")
        failures += bool(differs)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
