"""Classifies config keys by effect, and normalizes their values."""

from collections.abc import Mapping
from typing import Any

from hfcount.diffing.pieces import Effect
from hfcount.mapper.accepted_values import accepted_values
from hfcount.mapper.class_defaults import declared
from hfcount.mapper.loader_differences import usual_rotary

Values = Mapping[str, Any]

ABSENT: Any = object()
"""The value of an absent key."""

STORAGE = frozenset(("dtype", "torch_dtype", "quantization_config", "quantization", "compression_config"))
"""Keys about how tensors are stored."""

_NOTHING = frozenset(
    """
    _name_or_path transformers_version _commit_hash _attn_implementation _attn_implementation_autoset
    _attn_implementation_internal _diffusers_version use_cache output_attentions output_hidden_states return_dict
    torchscript _experts_implementation unsloth_version unsloth_fixed mlx_version name_or_path
    """.split()
)
_GENERATION = frozenset(
    """
    bad_words_ids begin_suppress_tokens diversity_penalty do_sample early_stopping encoder_no_repeat_ngram_size
    exponential_decay_length_penalty forced_bos_token_id forced_eos_token_id length_penalty max_length min_length
    max_new_tokens no_repeat_ngram_size num_beam_groups num_beams num_return_sequences remove_invalid_values
    repetition_penalty suppress_tokens temperature top_k top_p typical_p
    """.split()
)
_TRAINING = tuple(
    """
    dropout _drop dropout_p drop_rate drop_path_rate layerdrop pdrop initializer_range initializer_factor init_std
    _loss_coef _loss_coefficient _cost jitter_noise gradient_checkpointing label_smoothing mask_time_prob
    mask_feature_prob
    """.split()
)
_GGUF_SIZES = frozenset(
    """
    block_count embedding_length feed_forward_length head_count head_count_kv key_length value_length vocab_size
    expert_count expert_feed_forward_length nextn_predict_layers
    """.split()
)
_ADAPTER_SIZES = frozenset(
    """
    peft_type r target_modules exclude_modules layers_to_transform layers_pattern rank_pattern modules_to_save
    target_parameters bias lora_bias use_dora trainable_token_indices num_virtual_tokens token_dim
    """.split()
)
_ADAPTER_NOTHING = frozenset("base_model_name_or_path revision peft_version auto_mapping".split())
_LABELS = 2  # the default of transformers
_ROPE = ("rope_theta", "rope_scaling", "rope_parameters", "partial_rotary_factor")


def effect(key: str) -> Effect | None:
    """The effect of a key with this path, if its name alone determines it."""
    first, last = key.partition(".")[0], key.rpartition(".")[2]
    if first in STORAGE or last in STORAGE:
        return "storage"
    if last in _NOTHING or last.startswith("_"):
        return "none"
    if last in _GENERATION:
        return "reading"
    return "training" if last.endswith(_TRAINING) else None


def of_gguf(key: str) -> Effect:
    """The effect of a GGUF metadata key: none for authors and licences, tensors for sizes."""
    if key.startswith("general."):
        if key in ("general.file_type", "general.quantization_version"):
            return "storage"
        return "reading" if key == "general.architecture" else "none"
    if key.startswith("quantize."):
        return "none"
    last = key.rpartition(".")[2]
    return "tensors" if last in _GGUF_SIZES else "reading"


def of_adapter(key: str) -> Effect:
    """The effect of an adapter setting."""
    if key in _ADAPTER_SIZES:
        return "tensors"
    if key in _ADAPTER_NOTHING:
        return "none"
    return "training" if key.endswith(("dropout", "init_lora_weights", "inference_mode")) else "reading"


def is_named(kind: str, name: str) -> bool:
    """Whether the config class of a model_type has a key of this name."""
    class_, types = declared(kind), accepted_values(kind) if kind else None
    return any(name in names for names in (class_.keys, class_.parts, class_.names, types.types if types else ()))


def settled(values: Values, kind: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Values by the names of the config class, and the name in the file for each.

    If a key is written under several names, the one that the class reads counts. Rotary settings are merged into one
    object, as transformers 5 writes them.
    """
    class_ = declared(kind)
    effective: dict[str, Any] = {}
    written: dict[str, str] = {}
    for name, value in values.items():
        key = "dtype" if name == "torch_dtype" else class_.names.get(name, name)
        counting = class_.counting((written.get(key, name), name)) or [key]
        if effective.get(key) is None or (name in counting and value is not None):
            effective[key], written[key] = value, name
    if isinstance(effective.get("dtype"), str):
        effective["dtype"] = effective["dtype"].removeprefix("torch.")
    return _with_rotary(_with_labels(effective), usual_rotary(kind)), written


def _with_labels(values: dict[str, Any]) -> dict[str, Any]:
    """Replaces generic label names by num_labels."""
    names = values.get("id2label")
    if not isinstance(names, dict) or any(name != f"LABEL_{number}" for number, name in names.items()):
        return values
    rest = {name: value for name, value in values.items() if name not in ("id2label", "label2id")}
    return rest if len(names) == _LABELS else {**rest, "num_labels": len(names)}


def _with_rotary(values: dict[str, Any], usual: Values) -> dict[str, Any]:
    scaling = values.get("rope_scaling") or values.get("rope_parameters")
    if not isinstance(scaling, dict | None) or not (usual or any(name in values for name in _ROPE)):
        return values
    if not scaling and any(isinstance(value, dict) for value in usual.values()):
        return {**values, "rope_parameters": usual}
    inner: dict[str, Any] = dict(scaling or {})
    if any(isinstance(value, dict) for value in (*inner.values(), *usual.values())):
        return values
    if "type" in inner:
        inner.setdefault("rope_type", inner.pop("type"))
        inner.pop("type", None)
    for name in ("rope_theta", "partial_rotary_factor"):
        if values.get(name) is not None:
            inner.setdefault(name, values[name])
    rest = {name: value for name, value in values.items() if name not in _ROPE}
    return {**rest, "rope_parameters": {"rope_type": "default", **usual, **inner}}


def same(value: Any, other: Any) -> bool:
    """Whether two values are equal to a reader; an absent value equals null, and 1 equals 1.0."""
    if value is ABSENT or other is ABSENT:
        return value is other or value is None or other is None
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    return bool(value == other) or (value != value and other != other)
