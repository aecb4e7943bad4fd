"""Gives a config as the converter reads it: as transformers' class of its type writes it again.

Source: conversion/base.py (load_hparams, get_model_architecture); transformers 5.23, configuration_utils.py and
modeling_rope_utils.py (convert_rope_params_to_dict, standardize_rope_params).
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any

from hfcount.verifier.loaders.llama_cpp.converter.operators import NotRun
from hfcount.verifier.loaders.llama_cpp.converter.tensors import DTYPES

Row = Callable[[str], Any]
Json = dict[str, Any]

_SCALED = ("llama3", "yarn", "longrope")
_DTYPES = frozenset((*DTYPES.values(), "float", "double", "half", "int", "long", "short"))
_LABELS, _LAYERS = 10_000, 10_000
_ORIGINAL = "original_max_position_embeddings"
_OF_GENERATION = frozenset(
    "max_length min_length do_sample early_stopping num_beams temperature top_k top_p typical_p repetition_penalty"
    " length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids num_return_sequences"
    " output_scores return_dict_in_generate forced_bos_token_id forced_eos_token_id remove_invalid_values"
    " exponential_decay_length_penalty suppress_tokens begin_suppress_tokens num_beam_groups diversity_penalty".split()
)
_TEXTS = ("llm_config", "lm_config", "thinker_config", "language_config", "lfm")
_OUTER = (
    "StepVLForConditionalGeneration",
    "Sarashina2VisionForCausalLM",
    "Exaone4_5_ForConditionalGeneration",
    "Step3p7ForConditionalGeneration",
    "KimiK3ForConditionalGeneration",
)
"""Classes that go before that of their text_config (get_model_architecture)."""


def hparams(values: Mapping[str, Any], row: Row, refused: bool = False) -> Json:
    """The config that the converter works with.

    Args:
        values: config.json.
        row: gives the record of a config type; None where transformers has none.
        refused: whether transformers refuses the config.
    """
    config = copy.deepcopy(dict(values))
    kind = config.get("model_type")
    known = row(f"type {kind}") if isinstance(kind, str) and not refused else None
    if known:
        config = written(config, known, row)
        if not _fits(config):  # the class refuses it, and config.json is read as it is
            config = copy.deepcopy(dict(values))
    for key in _TEXTS:
        if key in config:
            inner = config[key]
            config["text_config"] = inner["text_config"] if key == "thinker_config" else inner
    return config


def _fits(config: Mapping[str, Any]) -> bool:
    """Whether there is a kind for each layer, and torch has the dtype."""
    parts = [config, *[part for part in config.values() if isinstance(part, dict)]]
    for part in parts:
        kinds, count = part.get("layer_types"), part.get("num_hidden_layers")
        if isinstance(part.get("dtype"), str) and part["dtype"].removeprefix("torch.") not in _DTYPES:
            return False
        if isinstance(kinds, list) and isinstance(count, int) and len(kinds) != count:
            return False
    return True


def written(given: Json, known: Mapping[str, Any], row: Row) -> Json:
    """A config as its class writes it again."""
    names = known.get("names", {})
    config: Json = {}
    for key, value in given.items():
        if key not in names or names[key] not in given:
            config[names.get(key, key)] = value
    for key in _OF_GENERATION - known["defaults"].keys():
        config.pop(key, None)
    _of_all(config)
    unknown = {
        target
        for key, targets in known.get("taken", {}).items()
        if config.pop(key, None) is not None
        for target in targets
    }
    config = {**copy.deepcopy(known["defaults"]), **config}
    config |= {key: _Derived(key) for key in unknown - given.keys() - {"rope_parameters"}}
    for key, rule in known.get("derived", {}).items():
        if config.get(key) is None:
            config[key] = _derived(config, rule, key)
    for key, kind in known.get("parts", {}).items():
        _write_part(config, key, kind, row)
    if "theta" in known:
        _rotary(config, given, known)
    return config


def _of_all(config: Json) -> None:
    """Fills in what every class does."""
    if isinstance(dtype := config.pop("torch_dtype", None), str):
        config.setdefault("dtype", dtype)
    count = config.pop("num_labels", 2)
    if config.get("id2label") is None and isinstance(count, int) and count < _LABELS:
        config["id2label"] = {number: f"LABEL_{number}" for number in range(count)}


class _Derived:
    """A value that comes of others in a way that is not recorded."""

    def __init__(self, key: str) -> None:
        self.key = key

    def attribute(self, name: str) -> Any:
        """Nothing of it is known."""
        raise NotRun(f"{self.key} is absent, and comes of other keys")

    def __bool__(self) -> bool:
        raise NotRun(f"{self.key} is absent, and comes of other keys")

    __int__ = __index__ = __len__ = __iter__ = __bool__

    def __getitem__(self, place: Any) -> Any:
        return bool(self)

    def __deepcopy__(self, memo: Any) -> "_Derived":
        return self


def _derived(config: Json, rule: Any, key: str) -> Any:
    if isinstance(rule, dict) and "value" in rule:
        return copy.deepcopy(rule["value"])
    if isinstance(rule, dict):
        count = config.get("num_hidden_layers")
        if not isinstance(count, int) or count > _LAYERS or any(map(_turns, config.items())):
            return _Derived(key)
        return [rule["cycle"][at % len(rule["cycle"])] for at in range(count)]
    given = [size for source in rule or () if isinstance(size := config.get(source), int) and size]
    if not given or len(given) != len(rule):
        return _Derived(key)
    return given[0] if len(given) == 1 else given[0] // given[1]


def _turns(pair: tuple[str, Any]) -> bool:
    """Whether a key says which layers are of a kind."""
    key, value = pair
    return bool(value) and any(word in key for word in ("pattern", "interval", "use_sliding_window"))


def _write_part(config: Json, key: str, kind: str, row: Row) -> None:
    """Writes a nested config as its class does."""
    part = config.get(key)
    inner = row(f"type {part.get('model_type') or kind if isinstance(part, dict) else kind}")
    if inner and (part is None or isinstance(part, dict)):
        nested = part or {}
        config[key] = {**written(dict(nested), inner, row), "model_type": nested.get("model_type") or kind}


def _own_settings(own: Any, declared: Mapping[str, Any]) -> tuple[Json, Any]:
    """The settings that a config has, or those of its class by kinds of layers; and the usual ones it lacks."""
    if isinstance(own, dict):
        return own, None
    usual = declared.get("rope_parameters")
    if isinstance(usual, dict) and any(isinstance(value, dict) for value in usual.values()):
        return copy.deepcopy(usual), usual
    return {}, usual


def _rotary(config: Json, given: Json, known: Mapping[str, Any]) -> None:
    """Writes the settings of rotary positions as rope_parameters alone."""
    declared = known["defaults"]
    scaling = config.pop("rope_scaling", None)
    own = given.get("rope_parameters") or scaling
    settings, usual = _own_settings(own, declared)
    theta = config.get("rope_theta", known["theta"])
    part = config.get("partial_rotary_factor")
    for key in ("rope_theta", "partial_rotary_factor"):
        if key not in declared:
            config.pop(key, None)
    labels = known.get("labels") or config.get("layer_types")
    nested = [key for key in settings if key in labels] if isinstance(labels, list | tuple) else []
    for entry in [settings[key] for key in nested] or [settings]:
        if not isinstance(entry, dict):
            continue
        entry.setdefault("rope_theta", theta)
        if part is not None:
            entry.setdefault("partial_rotary_factor", part)
        for key, value in usual.items() if isinstance(usual, dict) else ():
            entry.setdefault(key, copy.deepcopy(value))
        entry.setdefault("rope_type", entry.get("type", "default"))
        if entry["rope_type"] in _SCALED:
            if not nested and _ORIGINAL in config:
                entry[_ORIGINAL] = config[_ORIGINAL]
            entry.setdefault(_ORIGINAL, config.get("max_position_embeddings"))
    config["rope_parameters"] = settings


def architecture(config: Mapping[str, Any]) -> str:
    """The class that the converter goes by.

    Raises:
        ValueError: there is none.
    """
    text = config.get("text_config", {})
    names = config.get("architectures")
    name = names[0] if names else None
    if name is None and "ssm_cfg" in config:
        name = config["ssm_cfg"].get("layer", "Mamba") + "ForCausalLM"
    if name in _OUTER:
        return str(name)
    if isinstance(text, dict) and text.get("architectures") is not None:
        name = text["architectures"][0]
    if name is None:
        raise ValueError("Failed to detect model architecture")
    return str(name)
