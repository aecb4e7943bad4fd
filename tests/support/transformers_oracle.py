"""The names and shapes that transformers itself would save: the judge of the types that it has (extra `oracle`)."""

import json
from copy import deepcopy
from importlib import import_module
from typing import Any

import pytest
from paths import ARCHITECTURES

_EXTRA = "the oracle is not installed; `pip install -e '.[oracle]'` brings torch and transformers"
torch = pytest.importorskip("torch", reason=_EXTRA)
transformers = pytest.importorskip("transformers", reason=_EXTRA)
loading = pytest.importorskip("transformers.core_model_loading", reason=_EXTRA)
modeling = pytest.importorskip("transformers.modeling_utils", reason=_EXTRA)

Json = dict[str, Any]
Shapes = dict[str, tuple[int, ...]]


def class_of(values: Json) -> Any:
    """The class that a config.json names; not all are exported."""
    name, config = values["architectures"][0], transformers.CONFIG_MAPPING[values["model_type"]]
    if hasattr(transformers, name):  # a type may have no module of its own
        return getattr(transformers, name)
    return getattr(import_module(config.__module__.replace(".configuration_", ".modeling_")), name)


def model_of(values: Json) -> Any:
    """The model that transformers builds for a config.json, on torch's default device."""
    parsed = transformers.CONFIG_MAPPING[values["model_type"]].from_dict(deepcopy(values))  # which it takes apart
    if "architectures" not in values:
        return transformers.AutoModelForCausalLM.from_config(parsed)
    return class_of(values)._from_config(parsed)


RECORDED = {
    path.stem: json.loads(path.read_text())["config"]
    for path in sorted(ARCHITECTURES.glob("*.json"))
    if json.loads(path.read_text())["judge"].startswith("transformers")
}


def saved(model: Any) -> Shapes:
    """The names and shapes that `save_pretrained` writes, in its own steps: ignored keys, ties, the stored layout."""
    ignored = set(model._keys_to_ignore_on_save or ())
    state = {name: tensor for name, tensor in model.state_dict().items() if name not in ignored}
    stored = loading.revert_weight_conversion(model, modeling.remove_tied_weights_from_state_dict(state, model))
    return {name: tuple(tensor.shape) for name, tensor in stored.items()}


def described(values: Json) -> Shapes:
    """What transformers writes for a config.json."""
    with torch.device("meta"):
        return saved(model_of(values))
