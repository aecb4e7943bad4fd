"""Gives what transformers' config classes have where a config lacks a key, for llama_cpp_converter.py."""

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

_OF_ALL = frozenset(
    "transformers_version architectures output_hidden_states return_dict dtype chunk_size_feed_forward id2label"
    " label2id problem_type _name_or_path model_type output_attentions is_encoder_decoder use_cache"
    " initializer_range".split()
)
_SIZES = ("hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "num_hidden_layers")


def config_types() -> Iterator[tuple[str, Json]]:
    """Each type with its defaults, the further names of its keys, its rotary base, and derived keys."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES

    for name in sorted(CONFIG_MAPPING_NAMES):
        try:
            kind = CONFIG_MAPPING[name]
            row = _row(kind)
        except Exception as error:
            print(name, type(error).__name__, str(error)[:80])
            continue
        if row["defaults"].keys() & {"vocab_size", "text_config"}:
            yield name, row


def _row(kind: Any) -> Json:
    config = kind()
    values = json.loads(json.dumps(config.to_dict(), default=str))
    declared = {key: field.default for key, field in kind.__dataclass_fields__.items()}
    parts = {key: part["model_type"] for key, part in values.items() if isinstance(part, dict) and "model_type" in part}
    derived = {
        key: _rule(kind, key, given)
        for key, given in values.items()
        if key in declared
        and declared[key] is None
        and given is not None
        and key not in {*parts, *_OF_ALL, "rope_parameters"}
    }
    kept = {
        key: given for key, given in values.items() if key not in _OF_ALL and key not in derived and key not in parts
    }
    row: Json = {"defaults": kept}
    if derived:
        row["derived"] = derived
    if parts:
        row["parts"] = parts
    if kind.attribute_map:
        row["names"] = dict(kind.attribute_map)
    if hasattr(config, "rope_parameters"):
        settings = values.get("rope_parameters")
        row["theta"] = (
            settings.get("rope_theta", kind.default_theta) if isinstance(settings, dict) else kind.default_theta
        )
    if taken := dict(_taken(kind, values)):
        row["taken"] = taken
    labels = getattr(config, "_rope_type_labels", None)
    if labels:
        row["labels"] = list(labels)
    return row


def _taken(kind: Any, values: Json) -> Iterator[tuple[str, list[str]]]:
    """The keys of earlier versions that a class takes out of a config, with those that it sets by them."""
    from transformers import PreTrainedConfig

    code = "".join(inspect.getsource(part) for part in kind.__mro__[:-1] if part not in PreTrainedConfig.__mro__)
    for key in sorted(set(re.findall(r"kwargs\.pop\(\s*\"(\w+)\"", code)) - values.keys()):
        if key in ("rope_theta", "rope_scaling", "model_type", "num_labels", "partial_rotary_factor"):
            continue
        changed: set[str] = set()
        for value in (7, 0.75, [1]):
            try:
                result = json.loads(json.dumps(kind(**{key: value}).to_dict(), default=str))
            except Exception:  # not such a value
                continue
            if key in result:
                break
            changed |= {name for name in result if result[name] != values.get(name)}
        else:
            yield key, sorted(changed)


def _rule(kind: Any, key: str, usual: Any) -> Any:
    """What a derived value comes of: keys that it is a copy or the quotient of, words that go round, or nothing."""
    if key == "layer_types":
        return _cycle(kind)
    sizes = {name: given for name, given in zip(_SIZES, (96, 6, 3, 10, 4), strict=True) if name != key}
    try:
        declared = {name: given for name, given in sizes.items() if name in kind.__dataclass_fields__}
        result = kind(**declared).to_dict()[key]
    except Exception:
        return None
    for name, given in declared.items():
        if result == given:
            return [name]
    if result == 16:
        return ["hidden_size", "num_attention_heads"]
    return {"value": usual} if result == usual and isinstance(usual, list | bool) else None


def _cycle(kind: Any) -> Json | None:
    """The kinds of layers that go round; None if they do not, or depend on more than the count of layers."""
    try:
        first, second = (kind(num_hidden_layers=count).to_dict()["layer_types"] for count in (24, 37))
    except Exception:
        return None
    for length in range(1, 13):
        if all(words == [first[at % length] for at in range(len(words))] for words in (first, second)):
            return {"cycle": first[:length]}
    return None
