"""Checkpoints that differ from their config, each in another way, and those whose names have nothing to do with it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

INDEX = "model.safetensors.index.json"
Json = dict[str, Any]
Names = dict[str, str]


def _without(*words: str) -> Callable[[Json, Names], tuple[Json, Names]]:
    def change(config: Json, names: Names) -> tuple[Json, Names]:
        return config, {name: file for name, file in names.items() if not any(word in name for word in words)}

    return change


def _with(**keys: Any) -> Callable[[Json, Names], tuple[Json, Names]]:
    return lambda config, names: (config | keys, names)


def _called(change: Callable[[str], str]) -> Callable[[Json, Names], tuple[Json, Names]]:
    return lambda config, names: (config, {change(name): file for name, file in names.items()})


def _further(config: Json, names: Names) -> tuple[Json, Names]:
    return config, names | {f"medusa_head.{number}.weight": next(iter(names.values())) for number in range(8)}


def _deeper(config: Json, names: Names) -> tuple[Json, Names]:
    return config | {"num_hidden_layers": config["num_hidden_layers"] + 2}, names


WAYS: dict[str, Callable[[Json, Names], tuple[Json, Names]]] = {
    "a layer less": _without(".layers.1."),
    "no head": _without("lm_head"),
    "no norm": _without("model.norm"),
    "no biases or norms of heads": _without("q_norm", "k_norm", "bias"),
    "two layers more in the config": _deeper,
    "another type": _with(model_type="olmo2", architectures=["Olmo2ForCausalLM"]),
    "tied in the config": _with(tie_word_embeddings=True),
    "experts in the config": _with(model_type="mixtral", num_local_experts=4, num_experts_per_tok=2),
    "a wrapper": _called(lambda name: f"module.{name}"),
    "adapters beside": _called(lambda name: name.replace("q_proj.weight", "q_proj.base_layer.weight")),
    "other words": _called(lambda name: name.replace("mlp.gate_proj", "feed_forward.w1")),
    "further heads": _further,
}
"""What is done to a checkpoint: its config, and the file of each name."""


def lay_out(fixtures: Path, root: Path) -> Iterator[str]:
    """Each recorded checkpoint in each way; yields their names below the root."""
    for path in sorted(fixtures.rglob(INDEX)):
        config, index = json.loads(path.with_name("config.json").read_bytes()), json.loads(path.read_bytes())
        if len(index["weight_map"]) > 2_000:
            continue
        for number, change in enumerate(WAYS.values()):
            changed, names = change(dict(config), dict(index["weight_map"]))
            yield write(root, f"{path.parent.name}-{number:02}", changed, index | {"weight_map": names})


def unrelated(config: Json, root: Path, count: int) -> str:
    """A checkpoint of so many names of which none is the config's; its name below the root."""
    words = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta")
    names = {}
    for one in range(count):
        names[f"net.{words[one % 7]}.{one // 7}.cell.{one % 13}.kernel"] = f"model-{one % 4}.safetensors"
    return write(root, f"unrelated-{count}", config, {"metadata": {}, "weight_map": names})


def write(root: Path, name: str, config: Json, index: Json) -> str:
    """Writes a config and an index."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    (folder / INDEX).write_text(json.dumps(index, indent=2))
    return name
