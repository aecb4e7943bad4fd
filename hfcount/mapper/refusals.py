"""Finds config values that transformers refuses: of a wrong type, out of range, or unknown."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from hfcount.mapper.accepted_values import ABSENT, AcceptedValues, Limits, Problem, accepted_values, renamed, shared
from hfcount.mapper.built_values import BuiltValues, built_values
from hfcount.mapper.class_defaults import Declared, declared, declares, knows, version
from hfcount.mapper.quantization_config import announcements
from hfcount.mapper.rotary import by_kind, rope
from hfcount.mapper.rotary_sections import sections
from hfcount.mapper.value_types import fits, meaning
from hfcount.text import is_numeral, is_whole_number, shown

_FLOATS = {"Infinity": float("inf"), "-Infinity": float("-inf"), "NaN": float("nan")}
_ATTENTION = ("attn_implementation", "_attn_implementation")
_POSITIONS, _ROTARY = "position_embedding_type", ("rope", "rotary")
_LANGUAGE_MODELS = ("decoder", "generator", "text_config")
_GENERATING = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
_PAGED = "paged|"
_QUANTIZATION = "quantization_config"
_UNTOLD = "nothing else says how to read the weights"


_INSTEAD = "absent, because the class reads it in place of the whole config (the auto classes do not)"
"""Of the key of the nested configs that a class is for (5.24.0, configuration_utils.py:887)."""


class Refusal(NamedTuple):
    """One value that transformers refuses: the full path of its key, the value, and what is needed in its place.

    Of a key that is absent, it is why that is needed. Where it is not `sure`, some models are built and cannot run;
    a value `inside` is an entry of the list that the key holds.
    """

    key: str
    value: Any
    needed: str
    sure: bool = True
    inside: bool = False

    @property
    def instead(self) -> str | None:
        """The same value as it would be taken, as JSON, where that is plain; None if it is not."""
        if type(self.value) is int and "decimal point" in self.needed:
            return f"{self.value}.0"
        if isinstance(self.value, str) and is_numeral(self.value) and "number" in self.needed:
            return self.value
        if type(self.value) is float and self.value.is_integer() and "whole number" in self.needed:
            return f"{self.value:.0f}"
        return None


def refusals(
    values: Mapping[str, Any],
    kind: Any,
    path: str = "",
    unused: Collection[str] = (),
    parsed: bool = False,
    replaced: Collection[str] = (),
) -> Iterator[Refusal]:
    """What transformers refuses in a config and in those nested in it; nothing of a type that it does not have.

    Args:
        values: the JSON object.
        kind: the model_type, or name, of its class.
        path: the keys that lead to this part of the document, such as `text_config.`.
        unused: nested configs of which the model that is named has no part.
        parsed: whether no model is built of it: then what its class takes is all that counts.
        replaced: keys of which nothing is built, since another class sets what counts.
    """
    accepted = accepted_values(kind) if isinstance(kind, str) else None
    if accepted is None or (not path and _has_own_code(values)):
        return
    known, built = declared(kind), None if parsed else built_values(kind, version())
    accepted = (
        accepted._replace(activations=frozenset(), headed=frozenset(), filled=frozenset(), sides=frozenset())
        if parsed
        else accepted
    )
    alone = set[str]()  # what is refused whatever the other keys are
    for refusal in _alone(accepted, values, known, built, (path, replaced)):
        if refusal.sure:
            alone.add(refusal.key)
        yield refusal
    further = (
        *_by_defaults(values, known, built),
        *_labels(values),
        *_kinds(accepted, values, kind),
        *_stages(accepted, values, kind, path),
        *rope(accepted, values, kind, _turns(values, kind), built),
        *by_kind(accepted, values),
        *sections(values, kind, known.keys),
        *_quantised(values, known, path),
        *_within_itself(accepted, values),
        *_uneven(accepted, values, kind),
        *_undivided(accepted, values, kind),
        *_unevenly(accepted, values, kind, built),
    )
    for name, value, needed in (*further, *_unmet(accepted, values, kind, {name for name, _, _ in further})):
        if f"{path}{name}" not in alone:
            inside = isinstance(values.get(name), list) and values[name] is not value
            yield Refusal(f"{path}{name}", value, needed, inside=inside)
    if not path and accepted.within in values and _hides(values, accepted.within, known):
        yield Refusal(accepted.within, values[accepted.within], _INSTEAD)
    for name in known.parts:
        if isinstance(values.get(name), dict):
            yield from _of_part(values, kind, name, path, parsed or name in unused)


def _hides(values: Mapping[str, Any], name: str, known: Declared) -> bool:
    """Whether a nested config in place of the whole is another."""
    inner = values[name]
    keys = [key for key in values if known.names.get(key, key) in known.keys]
    return not isinstance(inner, dict) or any(key not in inner or inner[key] != values[key] for key in keys)


def _alone(
    accepted: AcceptedValues,
    values: Mapping[str, Any],
    known: Declared,
    built: BuiltValues | None,
    place: tuple[str, Collection[str]],
) -> Iterator[Refusal]:
    """Values that are refused whatever the other keys are, and words and lists with which some models are not built.

    Args:
        place: the keys that lead to the config, and those of which nothing is built there.
    """
    path, replaced = place
    for name, value in values.items():
        if path and name in _ATTENTION:  # overwritten by that of the whole (5.24.0, configuration_utils.py:599)
            continue
        recorded = None if name in replaced or _is_replaced(name, values) else built
        if needed := _of_key(accepted, recorded, name, known.names.get(name, name), values):
            yield Refusal(f"{path}{name}", value, needed)
        elif isinstance(value, str) and name in accepted.headed and value not in shared("activations"):
            yield Refusal(f"{path}{name}", value, f"one of {_listed(shared('activations'))}", sure=False)
        elif isinstance(value, list) and (needed := _short(accepted, name, values, _depth(values, known))):
            yield Refusal(f"{path}{name}", value, needed, sure=False)


def _stages(accepted: AcceptedValues, values: Mapping[str, Any], kind: str, path: str) -> Iterator[Problem]:
    if accepted.stages or ("stage_names" in values and declares(kind, "stage_names")):
        from hfcount.mapper.stages import stages  # few types are backbones

        yield from stages(accepted, values, declared(kind).keys, path)


def _unmet(accepted: AcceptedValues, values: Mapping[str, Any], kind: str, told: Collection[str]) -> Iterator[Problem]:
    """What the class needs of several keys at once, where nothing is told yet of the key."""
    named = values.get("model_type", kind)
    read = named == kind or (isinstance(named, str) and knows(named))  # else no class of transformers reads it
    if accepted.needs and read:
        from hfcount.mapper.validated import unmet  # few types need it

        for name, value, need in unmet(accepted.needs, values, kind):
            if name not in told:
                yield name, value, f"a value with which {need}"


def _of_key(
    accepted: AcceptedValues, built: BuiltValues | None, name: str, key: str, values: Mapping[str, Any]
) -> str | None:
    """What a key has to hold in place of a value that the class refuses, or with which no model is built.

    Args:
        name: the key, and `key` what the class calls it.
        values: the config.
    """
    value = values[name]
    words = built is not None and name in accepted.activations and built.takes("word", key)
    if words and isinstance(value, str):
        return None
    return _needed(accepted, name, _number(value)) or (built.needed(key, value, values) if built else None)


def _by_defaults(values: Mapping[str, Any], known: Declared, built: BuiltValues | None) -> Iterator[Problem]:
    """Keys that are absent, and by whose defaults no model is built."""
    given = {known.names.get(name, name) for name in values}
    for name in built.needed_absent(given) if built else ():
        yield name, ABSENT, "no model is built by its default"


def _is_replaced(name: str, values: Mapping[str, Any]) -> bool:
    """Whether it is rope_parameters, and keys beside it say what it leaves out, as version 4 did."""
    return name == "rope_parameters" and (bool(values.get("rope_scaling")) or "rope_theta" in values)


def _of_part(values: Mapping[str, Any], kind: str, name: str, path: str, parsed: bool) -> Iterator[Refusal]:
    """What is refused in a nested config, or its type, where that is the type of the whole."""
    inner, built = values[name], None if parsed else built_values(kind, version())
    if built and inner.get("model_type") == kind and built.refuses("own", name):
        yield Refusal(f"{path}{name}.model_type", kind, "the type of a model within this one")
        return
    below, told = declared(kind).part(name, inner).kind, set[str]()
    accepted = accepted_values(kind)
    taken = [key.removeprefix(f"{name}.") for key in accepted.replaced] if accepted else []
    for refusal in refusals(inner, below, f"{path}{name}.", parsed=parsed, replaced=taken):
        told.add(refusal.key)
        yield refusal
    if built and below == declared(kind).part(name, None).kind:  # of which it is recorded
        spelled = {key: declared(below).names.get(key, key) for key in inner}
        for key, value in inner.items():
            place, needed = f"{path}{name}.{key}", built.needed(f"{name}.{spelled[key]}", value, inner)
            if needed and place not in told:
                yield Refusal(place, value, needed)


def _short(accepted: AcceptedValues, name: str, values: Mapping[str, Any], depth: int) -> str | None:
    """What a list has to hold of which models of the type take more entries than there are."""
    value = values[name]
    if name in _checked(accepted, accepted.counted, values):  # it is refused if it is not as long
        return None
    if name in accepted.kinds and len(value) < depth:
        return f"a list with an entry for each of the {depth} layers"
    if name in accepted.filled and not value:
        return "a list with entries"
    return "a number, or a list of height and width" if name in accepted.sides and len(value) < 2 else None


def _depth(values: Mapping[str, Any], known: Declared) -> int:
    """The number of layers by whatever name the class has for it; 0 if that is not known."""
    names = ("num_hidden_layers", *known.spellings(["num_hidden_layers"]))
    given = next((values[name] for name in names if name in values), None)
    usual = known.default(names) if given is None else None
    count = usual[1] if usual else given
    return count if type(count) is int else 0


def _has_own_code(values: Mapping[str, Any]) -> bool:
    """Whether the config is read by the repo's own code, if that is trusted."""
    named = values.get("auto_map")
    return isinstance(named, dict) and "AutoConfig" in named


def read_by_own_code(config: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    """Whether the code that a repo brings for the whole reads a part by a class of its own, whatever its type."""
    return _has_own_code(config) and _has_own_code(part)


def _number(value: Any) -> Any:
    """A number as transformers writes it where JSON has none, alone or in a list; any other value as it is."""
    if isinstance(value, list):
        return [_number(item) for item in value]
    if isinstance(value, dict) and value.keys() == {"__float__"}:
        word = value["__float__"]
        return _FLOATS.get(word, value) if isinstance(word, str) else value
    return value


def _needed(accepted: AcceptedValues, name: str, value: Any) -> str | None:
    """What a key has to hold in place of this value; None if the class takes it."""
    types = accepted.types.get(name) or accepted.types.get(f"_{name}")
    if types and not fits(value, types):
        return meaning(types)
    if name in accepted.fixed:
        return "absent, because the class computes it"
    if type(value) in (int, float):
        return _bounded(accepted, name, value)
    return _worded(accepted, name, value) if isinstance(value, str) else None


def is_refused_by_type(kind: str, key: str, value: Any) -> bool:
    """Whether the class of a model_type refuses a value whatever the other keys are, and whatever is built of it."""
    accepted = accepted_values(kind)
    return accepted is not None and _needed(accepted, key, value) is not None


def _bounded(accepted: AcceptedValues, name: str, value: float) -> str | None:
    if name in accepted.limits and not _within(value, accepted.limits[name]):
        return _bounds(accepted.limits[name])
    return "at least 0 and at most 1" if name in accepted.dropouts and (value < 0 or value > 1) else None


def _worded(accepted: AcceptedValues, name: str, value: str) -> str | None:
    if name in accepted.words and value not in accepted.words[name]:
        return f"one of {_listed(accepted.words[name])}"
    words = "activations" if name in accepted.activations else "attention" if name in _ATTENTION else None
    if words is None or value in shared(words) or (words == "attention" and is_attention(value)):
        return None
    return f"one of {_listed(shared(words))}"


def is_attention(value: str) -> bool:
    """Whether a word names a kernel on the Hub, or attention in pages (5.23.0 and 5.24.0, modeling_utils.py:1733)."""
    bare = value.removeprefix(_PAGED)
    return "/" in value or (bare != value and bare in shared("attention") and (bare == "sdpa" or "flash" in bare))


def _within(value: float, limits: Limits) -> bool:
    least, most, above, below = limits
    low = least is None or (least < value if above else least <= value)
    return low and (most is None or (value < most if below else value <= most))


def _bounds(limits: Limits) -> str:
    least, most, above, below = limits
    low = None if least is None else f"above {least}" if above else f"at least {least}"
    high = None if most is None else f"below {most}" if below else f"at most {most}"
    return " and ".join(filter(None, (low, high)))


def _labels(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Own code, names of labels by number, and their number, which every class reads alike."""
    if not isinstance(values.get("auto_map", {}), dict | list | str):
        yield "auto_map", values["auto_map"], "an object"
    names, count = values.get("id2label"), values.get("num_labels", 0)
    if names is not None and not (isinstance(names, dict) and all(map(is_whole_number, names))):
        odd = next((key for key in names if not is_whole_number(key)), None) if isinstance(names, dict) else None
        detail = "" if odd is None else f", unlike {shown(odd)}"
        yield "id2label", names, f"an object whose keys are whole numbers in quotes{detail}"
    if type(count) not in (int, bool):
        yield "num_labels", count, "a whole number"


def _quantised(values: Mapping[str, Any], known: Declared, path: str) -> Iterator[Problem]:
    """A quantisation whose method nobody can tell; what other engines know by its keys is theirs to read.

    That of the whole counts, or, where it is empty, that of the language model (5.24.0, quantizers/auto.py:350).
    """
    given = values.get(_QUANTIZATION)
    if "quantization" in values:
        return
    if given is not None and not isinstance(given, dict):
        yield _QUANTIZATION, given, "an object or null"
    elif not path:
        text = next((name for name in _LANGUAGE_MODELS if not given and name in known.parts), None)
        part = values if text is None else values.get(text)
        settings = part.get(_QUANTIZATION) if isinstance(part, Mapping) else None
        untold = isinstance(settings, dict) and settings.get("quant_method") is None
        if untold and isinstance(part, Mapping) and not _is_announced(values, part):
            yield f"{text + '.' if text else ''}{_QUANTIZATION}.quant_method", ABSENT, _UNTOLD


def _is_announced(values: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    """Whether keys of the whole, or of a part of it, tell the method of a quantisation."""
    return any(announcement.method for config in (values, part) for announcement in announcements(config))


def _turns(values: Mapping[str, Any], kind: str) -> bool:
    """Whether a model has rotary positions: some have them only where a key says so."""
    usual = declared(kind).default((_POSITIONS,))
    positions = values.get(_POSITIONS) or (usual and usual[1])
    return usual is None or positions in _ROTARY


def _within_itself(accepted: AcceptedValues, values: Mapping[str, Any]) -> Iterator[Problem]:
    """A language model within one that has none: transformers asks it how to generate, and it cannot say."""
    named = values.get("architectures")
    if isinstance(named, list) and named and isinstance(named[0], str) and named[0].endswith(_GENERATING):
        for name in _LANGUAGE_MODELS:
            given = values.get(name)
            if given is not None and name not in accepted.types:
                yield name, given, "absent: this type has no such part"


def _kinds(accepted: AcceptedValues, values: Mapping[str, Any], kind: str) -> Iterator[Problem]:
    """Lists with kinds of layers that transformers does not name, or with more or fewer than there are layers."""
    known = declared(kind)
    for listed in sorted(_checked(accepted, accepted.kinds, values)):
        words = {*shared(listed), *renamed()}
        name = known.names.get(listed, listed) if listed in accepted.counted else listed
        given = values.get(name)
        if given is None or (name in accepted.types and not fits(given, accepted.types[name])):
            continue
        if not isinstance(given, list) or not all(isinstance(item, str) and item in words for item in given):
            yield name, _odd(given, words), f"a list of {_listed(shared(listed))}"
        elif listed in accepted.counted and len(given) != (depth := _depth(values, known)) and depth:
            yield name, given, f"a list with an entry for each of the {depth} layers"


def _checked(accepted: AcceptedValues, lists: frozenset[str], values: Mapping[str, Any]) -> frozenset[str]:
    """Of some lists of kinds those that the class looks at: without kinds of layers it looks at none of networks.

    A class that declares `layer_types` fills it in (transformers 5.24.0: configuration_utils.py:709).
    """
    has_kinds = values.get("layer_types") is not None or "layer_types" in accepted.types
    return lists if has_kinds else lists - {"mlp_layer_types"}


def _uneven(accepted: AcceptedValues, values: Mapping[str, Any], kind: str) -> Iterator[Problem]:
    """Lists that are not as long as others that they belong to."""
    usual = declared(kind).keys
    for names in accepted.alike:
        given = {name: values.get(name, usual.get(name)) for name in names if name in values or name in usual}
        sizes = {name: len(value) if isinstance(value, list) else value for name, value in given.items()}
        if all(type(size) is int for size in sizes.values()) and len({*sizes.values()}) > 1:
            common = max(sizes.values(), key=[*sizes.values()].count)
            odd = next((name for name in given if sizes[name] != common and name in values), names[0])
            others = " and ".join(f"{name}, {sizes[name]}" for name in given if name != odd)
            yield odd, given[odd], f"a list as long as {others}" if isinstance(given[odd], list) else f"as {others}"


def _undivided(accepted: AcceptedValues, values: Mapping[str, Any], kind: str) -> Iterator[Problem]:
    """Numbers with a remainder where the class wants none, such as hidden_size by the number of heads."""
    known = declared(kind)
    for dividend, part in accepted.divided:
        name, size = _held(values, known, dividend)
        by, count = (part, int(part)) if part.isdecimal() else _held(values, known, part)
        if type(size) is int and type(count) is int and count and size % count:
            if by in values:
                yield by, count, f"a divisor of {name}, {size}"
            elif name in values:
                yield name, size, f"a multiple of {by}" + ("" if by == part == str(count) else f", {count}")


def _unevenly(
    accepted: AcceptedValues, values: Mapping[str, Any], kind: str, built: BuiltValues | None
) -> Iterator[Problem]:
    """Numbers of heads that do not divide a size, with which no model is built though the class takes them."""
    checked = {part for _, part in accepted.divided}
    for key, other, size in built.undivided(values, declared(kind).keys) if built else ():
        if key not in checked:
            yield key, values[key], f"a divisor of {other}, {size}"


def _held(values: Mapping[str, Any], known: Declared, key: str) -> tuple[str, Any]:
    """What the class takes for one of its keys: its name in the config, and the value, be it by default."""
    names = known.counting([name for name in values if known.names.get(name, name) == key])
    return (names[0], values[names[0]]) if names else (key, known.keys.get(key))


def _odd(given: Any, words: Collection[str]) -> Any:
    """The first kind in a list that is not known; what is no list as it is."""
    return next((item for item in given if not isinstance(item, str) or item not in words), given) if given else given


def _listed(words: Collection[str]) -> str:
    return ", ".join(words)
