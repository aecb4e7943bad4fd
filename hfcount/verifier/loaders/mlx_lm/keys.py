"""Compares the keys of a config with those that mlx-lm needs, reads, defaults and refuses."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hfcount.mapper.class_defaults import declared
from hfcount.spec.components import GQA
from hfcount.verifier.loaders.config_values import ABSENT, value_at
from hfcount.verifier.loaders.loader import Checkpoint, ReadingOutcome, lays_out_another
from hfcount.verifier.loaders.mlx_lm.facts import Facts

if TYPE_CHECKING:
    from hfcount.blueprints.blueprint import Blueprint

_TEXT = "text_config"
_SYNONYMS = ({"silu", "swish"}, {"gelu_pytorch_tanh", "gelu_new", "gelu_fast", "gelu_tanh"})
_WINDOWS = ("layer_types", "sliding_window", "use_sliding_window", "max_window_layers", "attention_chunk_size")
_QUOTIENT, _WIDTH = " / ", "head_dim"

Values = Mapping[str, Any]
_Told = tuple[ReadingOutcome, str]


def differences(row: Facts, checkpoint: Checkpoint) -> Iterator[_Told]:
    """What it refuses, and what it reads otherwise than transformers."""
    values = checkpoint.values
    for key in row.needs:
        if value_at(values, key) is ABSENT:
            yield "refuses", f"needs {key}"
    for key, (error, refused) in row.refuses.items():
        value = value_at(values, key)
        value = None if value is ABSENT else value
        if value in refused or (isinstance(value, list) and any(word in refused for word in value)):
            yield "refuses", f"refuses {key} = {_shown(value)}: {error}"
    yield from _sizes(row, checkpoint)
    if row.divides and (error := _undivided(values)):
        yield "refuses", f"{error}: {row.divides}"
    yield from _otherwise(row, values)


def _otherwise(row: Facts, values: Values) -> Iterator[_Told]:
    """Keys that bear on no shape, and are read otherwise."""
    for key, (taken, usual) in row.absent.items():
        if value_at(values, key) is ABSENT:
            yield "differs", f"takes {taken} where {key} is absent, and transformers {usual}"
    for key, (taken, usual) in row.ignores.items():
        if key.rpartition(".")[2] in _WINDOWS and not _reached(values):
            continue
        taken = _layers(row, values, key, taken)
        if _other(value_at(values, key), taken, usual):
            yield "differs", f"does not read {key}, and takes {_shown(taken)}"


def _layers(row: Facts, values: Values, key: str, taken: Any) -> Any:
    """The kinds of layers that are taken where a pattern says so; what is taken for any other key."""
    pattern = _text(values).get("sliding_window_pattern")
    if not row.patterned or not key.endswith("layer_types") or type(pattern) is not int:
        return taken
    return [*["sliding_attention"] * (pattern - 1), "full_attention"]


def windows(row: Facts, values: Values) -> str:
    """What it does not read of windows, which no context that the config allows reaches; empty if it reads them."""
    for key, (taken, usual) in row.ignores.items():
        taken = _layers(row, values, key, taken)
        if key.rpartition(".")[2] in _WINDOWS and _other(value_at(values, key), taken, usual):
            return f"does not read {key}, which changes nothing within the window"
    return ""


def _sizes(row: Facts, checkpoint: Checkpoint) -> Iterator[_Told]:
    """Sizes that are taken where keys are absent, and lay out another model."""
    values, part = checkpoint.values, _text(checkpoint.values)
    for key, default in row.above.items():
        taken, wanted = values.get(key, default), part.get(key)
        if wanted is None and part is not values:
            known = declared(str(part.get("model_type", ""))).default([key])
            wanted = known[1] if known else taken
        if taken != wanted:
            yield "refuses", f"reads {key} at the top level alone, and takes {taken} for {wanted}"
    for key, size in row.sizes.items():
        if value_at(values, key) is not ABSENT:
            continue
        taken = _size(part, size)
        known = declared(str(part.get("model_type", checkpoint.model_type))).default([key.rpartition(".")[2]])
        if taken is None or (known and known[1] == taken):
            continue
        if checkpoint.blueprint is None or (key == _WIDTH and _has_heads_of(checkpoint.blueprint, taken)):
            continue
        if lays_out_another(checkpoint, key, taken):
            yield "refuses", f"takes {taken} where {key} is absent"


def _size(part: Values, size: Any) -> Any:
    """The size that is taken; None if it is not known."""
    if not isinstance(size, str):
        return size
    above, _, below = size.partition(_QUOTIENT)
    value, by = part.get(above), part.get(below) if below else 1
    return value // by if type(value) is int and type(by) is int and by else None


def _has_heads_of(model: "Blueprint", width: Any) -> bool:
    """Whether all attention has heads of this width anyway, so that a config that says so describes the same."""
    spec = model.spec
    mixers = [layers.layer.mixer for layers in spec.layers]
    return not spec.parts and all(
        isinstance(mixer, GQA) and mixer.head_dim == width and mixer.value_dim is None for mixer in mixers
    )


def _undivided(values: Values) -> str:
    part = _text(values)
    hidden, heads, width = (part.get(key) for key in ("hidden_size", "num_attention_heads", "head_dim"))
    if type(hidden) is int and type(heads) is int and type(width) is int and hidden != heads * width:
        return f"refuses head_dim {width} for {heads} heads and hidden_size {hidden}"
    return ""


def _reached(values: Values) -> bool:
    """Whether a context that the config allows is longer than a window; where nothing is said, it is not known."""
    part = _text(values)
    window, context = part.get("sliding_window"), part.get("max_position_embeddings")
    return type(window) is int and type(context) is int and window < context


def _other(value: Any, taken: Any, usual: Any) -> bool:
    """Whether a value that is not read is another than the one that is taken in its place."""
    if value is ABSENT:
        value = usual
        if usual is None:
            return False
    if isinstance(value, list) and isinstance(taken, list):
        return bool(taken) and any(word != taken[at % len(taken)] for at, word in enumerate(value))
    if isinstance(value, str) and isinstance(taken, str) and any({value, taken} <= words for words in _SYNONYMS):
        return False
    return bool(value != taken and (value or taken))


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(dict.fromkeys(map(str, value)))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(values: Values) -> Values:
    """The config of the language model."""
    part = values.get(_TEXT)
    return part if isinstance(part, dict) else values
