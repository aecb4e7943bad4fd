"""Says with which values of single keys a version of transformers builds a model, where the newest does not."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hfcount.mapper.accepted_values import accepted_values
from hfcount.mapper.built_values import BuiltValues, built_values
from hfcount.mapper.class_defaults import declared
from hfcount.mapper.refusals import is_refused_by_type
from hfcount.mapper.untyped import shape_of, tried
from hfcount.text import shown
from hfcount.verifier.loaders.config_values import without_activations

Part = tuple[str, Mapping[str, Any], str]
"""A config or one nested in it: its path, what it says, and its model_type."""

_FREE = frozenset({"output_hidden_states", "return_dict", "use_cache"})
"""Keys of all classes that version 4 looks up where a model runs (4.57.1, configuration_utils.py)."""

_UNTRIED = frozenset(
    "chunk_size_feed_forward dtype id2label is_encoder_decoder label2id max_length min_length num_labels"
    " output_attentions problem_type quantization_config tie_word_embeddings torch_dtype".split()
)
"""Keys of all classes of which no other values were tried (tests/tools/built_values.py)."""

_TYPE = ".model_type"


def is_built(version: str, newest: str, parts: Iterable[Part], key: str) -> bool | None:
    """Whether a version builds a model with the value of a key that the newest builds none with.

    False, too, where it is not by such a value that the newest refuses the key; None if the version was not asked.

    Args:
        parts: the config and those nested in it.
        key: its full path.
    """
    own = key.endswith(_TYPE)
    path = key.removesuffix(_TYPE) if own else key
    for at, values, kind in parts:
        name = path.removeprefix(at)
        now, before = (built_values(kind, each) for each in (newest, version))
        if now is None or not path.startswith(at) or not _refuses(now, kind, values, name, own):
            continue
        return None if before is None else not _refuses(before, kind, values, name, own)
    return False


def is_taken(version: str, parts: Iterable[Part], key: str) -> bool | None:
    """Whether a version builds the same model with a value that the newest class refuses for its type.

    None where that is not known, be it that it depends on other keys.

    Args:
        parts: the config and those nested in it.
        key: its full path.
    """
    for at, values, kind in parts:
        name = key.removeprefix(at)
        if key.startswith(at) and name in values and is_refused_by_type(kind, name, values[name]):
            return _takes(version, kind, name, values[name])
    return None


def _takes(version: str, kind: str, name: str, value: Any) -> bool | None:
    before, known = built_values(kind, version), declared(kind)
    canonical, accepted = known.names.get(name, name), accepted_values(kind)
    shape = shape_of(value, accepted is not None and canonical in accepted.dropouts)
    if name in _FREE and version.startswith("4."):
        return True
    if before is None or canonical in before.mixed.get(shape, ()):
        return None
    if canonical in before.taken.get(shape, ()):
        return True
    if name in _UNTRIED | _FREE:
        return None
    if accepted and name in accepted.activations and shape == "word":
        return before.takes("word", canonical)
    types = accepted.types.get(name, accepted.types.get(f"_{name}", "")) if accepted else ""
    return False if types and shape in tried(types) else None


def _refuses(built: BuiltValues, kind: str, values: Mapping[str, Any], name: str, own: bool) -> bool:
    """Whether no model is built with what a config says of a key, or does not say; `own`: of the type of a part."""
    canonical = declared(kind).names.get(name, name)
    if name not in values:
        return built.refuses("absent", canonical)
    return built.refuses("own", name) if own else bool(built.needed(canonical, values[name], values))


def refusals(version: str, newest: str, parts: Iterable[Part]) -> Iterator[str]:
    """The values with which a version builds no model, and the newest does, as predicates of a sentence."""
    for at, values, kind in parts:
        now, before = (built_values(kind, each) for each in (newest, version))
        if before is None or version == newest:
            continue
        known = declared(kind)
        for key, other, size in before.undivided(values, known.keys):
            yield f"refuses {at}{key}, which does not divide {at}{other}, {size:,}"
        yield from _without_activation(version, before, (at, values, kind))
        for name, value in values.items():
            if now and _refuses(before, kind, values, name, False) and not _refuses(now, kind, values, name, False):
                yield f"refuses {at}{name}, which is {shown(value)}"


def _without_activation(version: str, before: BuiltValues, part: Part) -> Iterator[str]:
    """Activations that a version does not have, and a model is built with."""
    at, values, kind = part
    accepted, known = accepted_values(kind), declared(kind)
    for name in sorted(accepted.activations & values.keys()) if accepted else ():
        word = values[name]
        named = isinstance(word, str) and word in without_activations(version)
        if named and not before.takes("word", known.names.get(name, name)):
            yield f"has no activation {shown(word)}, which {at}{name} names"
