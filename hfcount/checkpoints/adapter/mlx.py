"""Compares an adapter that mlx-lm has trained with its base.

Source: mlx-lm 0.32.2, tuner/utils.py (`linear_to_lora_layers`, `load_adapters`), tuner/lora.py, tuner/dora.py: the
halves are [inputs, rank] and [rank, outputs], the layers are the last `num_layers`, and names are those of the model.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.adapter.methods import Shape
from hfcount.checkpoints.adapter.modules import ModuleSet, modules
from hfcount.checkpoints.adapter.settings import ADAPTER_CONFIG, MLX_METHODS, Settings
from hfcount.checkpoints.adapter.targets import Unread
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.folded_names import fold
from hfcount.verifier.loaders.labels import MLX
from hfcount.verifier.rules.hf720_adapter_empty import AdapterEmpty
from hfcount.verifier.rules.hf733_setting_refused import SettingRefused
from hfcount.verifier.rules.hf734_lora_unmatched import LoraUnmatched
from hfcount.verifier.rules.hf735_lora_shape_differs import LoraShapeDiffers
from hfcount.verifier.rules.hf736_lora_half_missing import LoraHalfMissing

FILE = "adapters.safetensors"
_LAYER = re.compile(r"(.*\.)?layers\.(\d+)\.(.+)")
_REFUSED = f"{MLX} refuses to load it"
_LEFT = f"{MLX} loads the rest without a warning and leaves those modules unchanged"
_MANY = 150_000


def expected_of_mlx(settings: Settings, base: Blueprint) -> dict[str, Shape]:
    """The shapes of the adapter that the settings describe, by name.

    Raises:
        Unread: the base has other names in mlx-lm, or too many modules.
    """
    known = modules(base.spellings, "checkpoint", base.leaves)
    paths = {path: module for module in _countable(known) for path in module.paths()}
    if base.spec.layers and any(len(module.weight) == 3 or ".experts." in module.first for module in known):
        raise Unread("mlx-lm stacks the experts of the base under names that hfcount does not know", "NotCompared")
    parameters = settings.values.get("lora_parameters")
    keys = parameters.get("keys") if isinstance(parameters, dict) else None
    rank = parameters.get("rank", 0) if isinstance(parameters, dict) else 0
    layers = {int(match[2]) for path in paths if (match := _LAYER.fullmatch(path))}
    count = settings.number("num_layers", 0, least=-1)
    chosen = set(sorted(layers)[-max(count, 0) :])
    shapes: dict[str, Shape] = {}
    for path, module in paths.items():
        match = _LAYER.fullmatch(path)
        inner = match is not None and int(match[2]) in chosen and (keys is None or match[3] in keys)
        if (inner or (keys is not None and path in keys)) and module.kind in ("linear", "embedding"):
            shapes |= _of_module(path, module, rank, settings.method == MLX_METHODS["dora"])
    return shapes


def _of_module(path: str, module: ModuleSet, rank: int, dora: bool) -> dict[str, Shape]:
    """The halves of a module and, with DoRA, its magnitudes."""
    halves: dict[str, Shape] = {f"{path}.lora_a": (module.inputs, rank), f"{path}.lora_b": (rank, module.outputs)}
    magnitudes = (module.inputs if module.kind == "embedding" else module.outputs,)
    return halves | ({f"{path}.m": magnitudes} if dora else {})


def _countable(known: Sequence[ModuleSet]) -> Sequence[ModuleSet]:
    if sum(module.count for module in known) > _MANY:
        raise Unread(f"its base has more than {_MANY:,} modules", "NotCompared")
    return known


def compare_mlx(
    settings: Settings, stored: Mapping[str, Shape], base: Blueprint, label: str
) -> tuple[list[Finding], dict[str, Shape]]:
    """The findings, and the shapes that the settings describe; raises Unread as `expected_of_mlx` does."""
    refused = list(refused_of_mlx(settings))
    if refused:
        return refused, {}
    if not stored:
        return [AdapterEmpty(stored=0, **_named([]))], {}
    expected = _whole(base) if settings.method == MLX_METHODS["full"] else expected_of_mlx(settings, base)
    return list(_differences(settings, stored, expected, label)), expected


def refused_of_mlx(settings: Settings) -> Iterator[Finding]:
    """Settings without which mlx-lm does not load an adapter."""
    if settings.method == MLX_METHODS["full"]:
        return
    parameters = settings.values.get("lora_parameters")
    if not isinstance(parameters, dict):
        yield _setting("lora_parameters", parameters, "an object with rank, scale and dropout")
        return
    rank = parameters.get("rank")
    if type(rank) is not int or rank < 1:
        yield _setting("lora_parameters.rank", rank, "a whole number of at least 1")
    for key in ("scale", "dropout"):
        if not isinstance(parameters.get(key), int | float):
            yield _setting(f"lora_parameters.{key}", parameters.get(key), "a number")
    if type(settings.values.get("num_layers")) is not int:
        yield _setting("num_layers", settings.values.get("num_layers"), "a whole number")


def _setting(key: str, value: Any, wanted: str) -> Finding:
    return SettingRefused(file=ADAPTER_CONFIG, key=key, value=value, wanted=wanted, library=MLX)


def _whole(base: Blueprint) -> dict[str, Shape]:
    """The parameters of the base: a whole finetune stores those of its last layers."""
    known = _countable(modules(base.spellings, "checkpoint", base.leaves))
    return {
        f"{path}.{end}": shape for module in known for path in module.paths() for end, shape in module.tensors.items()
    }


def _differences(
    settings: Settings, stored: Mapping[str, Shape], expected: Mapping[str, Shape], label: str
) -> Iterator[Finding]:
    wide = [name for name, shape in stored.items() if name in expected and expected[name] != shape]
    if wide:
        first = wide[0]
        yield LoraShapeDiffers(expected=expected[first], observed=stored[first], outcome=_REFUSED, **_named(wide))
    if strange := [name for name in stored if name not in expected]:
        base = f"{printable(label)} that {ADAPTER_CONFIG} selects"
        yield LoraUnmatched(base=base, outcome=_REFUSED, **_named(strange))
    missing = [name for name in expected if name not in stored]
    if missing and settings.method != MLX_METHODS["full"]:
        yield LoraHalfMissing(outcome=_LEFT, **_named(missing))


def _named(names: list[str]) -> dict[str, Any]:
    return {"file": FILE, "tensors": tuple(fold(names)), "count": len(names)}
