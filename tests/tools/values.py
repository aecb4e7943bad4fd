"""Records which values transformers' configuration classes take: `python tests/tools/values.py` (extra `oracle`).

It writes hfcount/mapper/values.json, one line per class, named as in reference.json: its keys by the type that they
must have (`types`), bounds of numbers (`limits`: least, most, and whether each is itself excluded), keys that name an
activation (`activations`; `headed` those of some of a type's classes alone) or hold the share of a dropout
(`dropouts`), keys that only the class itself sets (`fixed`),
lists of kinds of layers that it checks (`kinds`), whether it has rotary positions of its own (`rope`), and, where its
models look up how to make them, kinds of these beside those of all classes (`rotates`). Where the models look up
rotary positions by the kind of layer, `turning` says which kinds the class itself brings entries for: where the
config gives none (`absent`), where what it gives has none (`empty`), and beside those that it gives (`beside`); `asked`
are the kinds that are looked up, all if that is absent, and `usual` those of a config that lists no kinds. `filled` are
lists of which the models take entries by their place, and `sides` numbers that may be lists of two; `words` are those
that a key may hold by a validator of the class, `alike` lists that are all of one length, and `divided` pairs of a key
and what has to divide its number: another key, or a number. Above them stands what all classes share: the activations,
kinds of layers, quantisations and so on.
"""

import json
import logging
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import fields
from functools import cache
from inspect import getclosurevars, getfile, getsource
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import loading
import validators
from reference import Json, classes_of

FILE = Path(__file__).parents[2] / "hfcount" / "mapper" / "values.json"

OF_HEADS = re.compile(r"^(summary|final|head|projection)_|_head_|classifier|pooler")
"""Keys that only some classes of a type read."""

_SIMPLE: dict[Any, str] = {int: "int", float: "float", bool: "bool", str: "str", NoneType: "null", None: "null"}


def recorded() -> Json:
    """What the file holds."""
    import transformers

    transformers.logging.set_verbosity(transformers.logging.CRITICAL)
    classes = {name: of_class(name, kind) for name, kind in classes_of().items()}
    return {"version": transformers.__version__, "shared": words(), "classes": classes}


def words() -> dict[str, str]:
    """What all classes share."""
    from transformers import configuration_utils
    from transformers.activations import ACT2FN
    from transformers.integrations.finegrained_fp8 import ALL_FP8_EXPERTS_FUNCTIONS
    from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    from transformers.quantizers.auto import AUTO_QUANTIZATION_CONFIG_MAPPING

    shared = {
        "activations": sorted(ACT2FN),
        "attention": sorted(["eager", *ALL_ATTENTION_FUNCTIONS.valid_keys()]),
        "experts": sorted({"eager", *ALL_EXPERTS_FUNCTIONS.keys(), *ALL_FP8_EXPERTS_FUNCTIONS.keys()}),
        "layer_types": sorted(configuration_utils.ALLOWED_ATTN_LAYER_TYPES),
        "mlp_layer_types": sorted(configuration_utils.ALLOWED_MLP_LAYER_TYPES),
        "quantisations": sorted(AUTO_QUANTIZATION_CONFIG_MAPPING),
        "renamed": [f"{old}:{new}" for old, new in sorted(configuration_utils._LEGACY_LAYER_TYPE_REMAP.items())],
        "rope_types": ["default", *sorted(ROPE_INIT_FUNCTIONS)],
    }
    return {name: " ".join(known) for name, known in shared.items()}


def of_class(name: str, kind: Any) -> Json:
    """What one class takes, and what its validators need beside that."""
    found = described(kind)
    needs = validators.needs(name, kind, found)
    return found | ({"needs": needs} if needs else {})


def described(kind: Any) -> Json:
    """What one class takes, but for what only building a model of it tells."""
    from transformers import PreTrainedConfig

    types: dict[str, list[str]] = {}
    limits: Json = {}
    words, common = [], dir(PreTrainedConfig)
    for field in fields(kind):
        said = written(field.type)
        if said and "any" not in said.split("|"):
            types.setdefault(said, []).append(field.name)
        for check in field.metadata.get("validator") or ():
            found = bounds(check)
            if found:
                limits[field.name] = found
            elif check.__name__ == "activation_fn_key":
                words.append(field.name)
    whole = {
        "types": {said: " ".join(sorted(keys)) for said, keys in sorted(types.items())},
        "limits": limits,
        "activations": " ".join(sorted({*words, *_activations(kind), *_looked_up(kind)})),
        "headed": " ".join(sorted(_headed(kind))),
        "dropouts": " ".join(sorted(_dropouts(kind))),
        "within": kind.base_config_key if isinstance(kind.base_config_key, str) else "",
        "replaced": " ".join(sorted(_replaced(kind))),
        "fixed": " ".join(name for name in dir(kind) if name not in common and _is_fixed(kind, name)),
        "kinds": " ".join(name for name in ("layer_types", "mlp_layer_types") if _checks_kinds(kind, name)),
        "rope": any(field.name == "rope_parameters" for field in fields(kind)),
        "rotates": " ".join(_rotations(kind)),
        "turning": _turning(kind),
        "filled": " ".join(sorted(_filled(kind))),
        "sides": " ".join(sorted(_sides(kind))),
        "words": validators.words(kind),
        "alike": validators.alike(kind),
        "divided": validators.divided(kind),
        "counted": " ".join(name for name in ("layer_types", "mlp_layer_types") if _is_counted(kind, name)),
        **_stages(kind),
    }
    whole["headed"] = " ".join(name for name in whole["headed"].split() if name not in whole["activations"].split())
    return {name: value for name, value in whole.items() if value}


@cache
def source(kind: Any) -> str:
    """The file of the models of a class; "" if there is none."""
    path = Path(getfile(kind))
    models = path.with_name(path.name.replace("configuration_", "modeling_"))
    return models.read_text() if models.exists() and models != path else ""


def _rotations(kind: Any) -> list[str]:
    """Kinds of rotary positions beside those of all, and `default`, where the models look up by it how to make them."""
    if kind.default_rope_type != "default":
        return ["default", kind.default_rope_type]
    if "ROPE_INIT_FUNCTIONS[" not in source(kind):
        return []
    return ["default", *sorted(set(re.findall(r'"(axial|mrope|su)"', Path(getfile(kind)).read_text())))]


def _turning(kind: Any) -> dict[str, str]:
    """Kinds of layers that the class brings rotary positions for, where the models look them up by these."""
    named = {field.name for field in fields(kind)}
    if not {"layer_types", "rope_parameters"} <= named or "rope_parameters[layer_type]" not in source(kind):
        return {}
    made = kind()
    usual = sorted(set(made.layer_types))
    labels = list(getattr(kind, "_rope_type_labels", ()))
    if labels and not set(usual) & set(labels):  # it looks them up by names of its own, and brings all of these
        return {}
    if "conv" in _entries(kind, None, layer_types=["conv"] * len(made.layer_types)):  # whatever the kinds are
        return {}
    beside = [_entries(kind, {one: {"rope_type": "default", "rope_theta": 1e4}}) - {one} for one in usual]
    found = {
        "absent": _entries(kind, None),
        "empty": _entries(kind, {}),
        "beside": set().union(*beside),
        "asked": labels,
        "usual": usual,
    }
    return {name: " ".join(sorted(kinds)) for name, kinds in found.items() if kinds}


def _entries(kind: Any, given: Json | None, **besides: Any) -> set[str]:
    try:
        found = kind(rope_parameters=given, **besides).rope_parameters
    except Exception:  # it wants an entry for each kind
        return set()
    return {name for name, one in found.items() if isinstance(one, dict | None)}


def _filled(kind: Any) -> Iterator[str]:
    """Keys with a list of which the models take entries by their place, so that it is never empty."""
    for name, value in _defaults(kind):
        if isinstance(value, list | tuple) and value and re.search(rf"\bconfig\.{name}\[", source(kind)):
            yield name


def _sides(kind: Any) -> Iterator[str]:
    """Keys with the side of a square, which may be a list of the sides of a rectangle."""
    said = {field.name: written(field.type) for field in fields(kind)}
    for name, value in _defaults(kind):
        both = {"int", "list[int]"} <= {*said[name].split("|")}
        square = type(value) is int or (isinstance(value, list | tuple) and len(value) == 2)
        if both and square and name.endswith(("image_size", "patch_size", "patch_stride")):
            yield name


def _defaults(kind: Any) -> Iterator[tuple[str, Any]]:
    """What a config of the class holds that gives no key; nothing of a class that needs some."""
    try:
        made = vars(kind())
    except Exception:
        return
    yield from ((field.name, made[field.name]) for field in fields(kind) if field.name in made)


def _activations(kind: Any) -> Iterator[str]:
    """Keys that name an activation: by default they do, and the models read them."""
    from transformers.activations import ACT2FN

    below = {name for one in _parts(kind) for name in vars(one).get("__dataclass_fields__", ())}
    for field in fields(kind):
        if field.name in below:  # whose key it is that the models read, their file does not tell
            continue
        word = field.default if isinstance(field.default, str) and not isinstance(field.type, str) else ""
        if word in ACT2FN and not OF_HEADS.search(field.name) and re.search(rf"\.{field.name}\b", source(kind)):
            yield field.name


def _headed(kind: Any) -> Iterator[str]:
    """Keys that name an activation by default, and that a class of the type looks up as one."""
    from transformers.activations import ACT2FN

    for field in fields(kind):
        word = field.default if isinstance(field.default, str) else ""
        if word in ACT2FN and re.search(rf"ACT2FN\[[\w.]*config\.{field.name}\]", source(kind)):
            yield field.name


def _looked_up(kind: Any) -> Iterator[str]:
    """Keys whose word its models, built by their recorded config, look up among the activations and nowhere else.

    It finds those that a nested config has, too, or that a base class reads.
    """
    import transformers
    from transformers.activations import ACT2FN

    defaults = {field.name: field.default for field in fields(kind)}
    names = [name for name, word in defaults.items() if isinstance(word, str) and word in ACT2FN]
    names = [name for name in names if not OF_HEADS.search(name)]
    cases = _cases().get(kind.model_type, lambda: iter(()))() if names else ()
    case = next((case for case in cases if hasattr(transformers, case.name)), None)  # not all are exported
    if case is None or _unknown_word(case, {}):
        return
    for name in names:
        if all(_unknown_word(case, {name: word}) for word in ("none such", "gated-gelu")):
            yield name


@cache
def _cases() -> dict[str, Callable[[], Iterator[loading.Case]]]:
    loading.LAID_OUT = False
    return dict(loading.cases())


def _unknown_word(case: loading.Case, values: Json) -> bool:
    """Whether the model of a case, with these values, is not built for a word that is looked up."""
    import torch
    import transformers

    model = getattr(transformers, case.name)
    try:
        with torch.device("meta"):
            model(model.config_class.from_dict(deepcopy(case.config | values)))
    except KeyError:
        return True
    except Exception:  # for another reason
        return not values
    return False


def _parts(kind: Any) -> Iterator[Any]:
    """The classes of its nested configs."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    for one in kind.sub_configs_defaults.values():
        known = one.model_type in CONFIG_MAPPING
        yield (
            one.config_class
            if hasattr(one.config_class, "__dataclass_fields__") or not known
            else CONFIG_MAPPING[one.model_type]
        )


def _replaced(kind: Any) -> Iterator[str]:
    """Keys of nested configs in whose place the class of the whole sets what it takes from elsewhere."""
    try:
        usual = kind().to_dict()
    except Exception:  # a class that needs more than that
        return
    for part in kind.sub_configs:
        for key, value in (usual[part] or {}).items() if isinstance(usual.get(part), dict | None) else ():
            given = deepcopy(usual)
            if type(value) not in (bool, int, float):
                continue
            given[part][key] = not value if isinstance(value, bool) else value + (2 if type(value) is int else 0.25)
            try:
                taken = kind.from_dict(given).to_dict().get(part)
            except Exception:  # of any kind, since each class refuses in its own way
                continue
            if isinstance(taken, dict) and taken.get(key) == value:
                yield f"{part}.{key}"


def _dropouts(kind: Any) -> Iterator[str]:
    """Keys from which the models make a dropout."""
    for field in fields(kind):
        made = rf"Dropout\((p=)?(self\.)?config\.{field.name}[,)]"
        if "drop" in field.name and not OF_HEADS.search(field.name) and re.search(made, source(kind)):
            yield field.name


def _is_fixed(kind: Any, name: str) -> bool:
    """Whether a config that has this key is refused, since the class computes it."""
    mapped = kind.attribute_map.get(name, name)
    found = next((vars(base)[mapped] for base in kind.__mro__ if mapped in vars(base)), None)
    if name.startswith("_") or not isinstance(found, property) or found.fset is not None:
        return False
    try:
        kind(**{name: None})
    except AttributeError as error:  # of a class that has another use for the key, none
        return "setter" in str(error)
    except Exception:  # the class wants it, but not null
        return False
    return False


def _checks_kinds(kind: Any, name: str) -> bool:
    """Whether the class takes only kinds of layers that transformers names; `layer_types` are looked at first."""
    try:
        made = kind()
        layers, known = made.num_hidden_layers, getattr(made, "layer_types", None)
    except Exception:  # a class without, or one that needs more
        return False
    count = layers if isinstance(layers, int) else 0
    given = known if isinstance(known, list) and len(known) == count else ["full_attention"] * count
    good = {"layer_types": given} | ({name: ["dense"] * count} if name != "layer_types" else {})
    return count > 0 and not _refuses(kind, good) and _refuses(kind, {**good, name: ["none such"] * count})


def _is_counted(kind: Any, name: str) -> bool:
    """Whether the class refuses a list of kinds of layers that has more or fewer entries than there are layers."""
    try:
        made = kind()
        count, given = made.num_hidden_layers, getattr(made, name, None)
    except Exception:  # a class without, or one that needs more
        return False
    if not isinstance(count, int) or count < 2:
        return False
    word = "full_attention" if name == "layer_types" else "dense"
    usual = given if isinstance(given, list) and len(given) == count else [word] * count
    before = {"layer_types": getattr(made, "layer_types", None) or ["full_attention"] * count}  # looked at first
    lists = ([*usual, usual[-1]], usual[:-1])
    return not _refuses(kind, {**before, name: usual}) and all(_refuses(kind, {**before, name: one}) for one in lists)


def _stages(kind: Any) -> Json:
    """What says how many stages the class names, where its source computes their names: a key, or a number.

    With the key stands their number where it holds null by default.
    """
    source_ = getsource(kind)
    said = re.search(r"self\.stage_names = (.*)range\(1, (?:len\()?(?:self\.(\w+)\)?|(\d+)) ?(?:\+ 1)?\)\]", source_)
    if said is None:
        return {}
    start, key, end = said.groups()
    try:
        made = kind()
    except Exception:  # a class that needs more
        return {}
    stemless = "stem" not in start
    count = len(made.stage_names) - (not stemless)
    by_default = next((field.default for field in fields(kind) if field.name == key), None)
    stages = str(int(end) - 1) if end else key if by_default is not None else f"{key} {count}"
    return {"stages": stages, "stemless": stemless, "measured": "self.out_features, self.channels" in source(kind)}


def _refuses(kind: Any, values: Json) -> bool:
    try:
        kind(**values)
    except Exception:  # whatever it is, there is no config
        return True
    return False


def written(kind: Any) -> str:
    """A declared type as the values of a JSON document that it takes; "" for a tuple or class, which takes none.

    A type that is named by a string is never checked, and takes `any`.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if kind is Any or isinstance(kind, str):
        return "any"
    if origin in (Union, UnionType):
        parts = [one for one in map(written, inner) if one]
        return "|".join(dict.fromkeys(parts))
    if origin is Literal:
        return json.dumps(list(inner), separators=(",", ":"))
    for whole, name in ((list, "list"), (dict, "object"), (Sequence, "sequence")):
        if kind is whole:
            return name
        if origin is whole:
            return f"{name}[{written(inner[-1] if whole is dict else inner[0])}]" if _checks(whole, inner) else ""
    return "object" if getattr(kind, "__total__", None) is not None else ""


def _checks(whole: Any, inner: tuple[Any, ...]) -> bool:
    """Whether any value passes: keys of a JSON object are never numbers."""
    return whole is not dict or "str" in written(inner[0]) or inner[0] is Any or get_origin(inner[0]) is Literal


def bounds(check: Any) -> list[Any] | None:
    """Least and most that a validator takes, and whether each is excluded; None if it is of another kind."""
    if check.__name__ == "positive_int_field":
        return [1, None, False, False]
    if check.__name__ == "probability":
        return [0, 1, False, False]
    inside = getclosurevars(check).nonlocals
    if {"min", "max", "exclude_min", "exclude_max"} <= inside.keys():
        least, most = (None if abs(inside[one]) == float("inf") else inside[one] for one in ("min", "max"))
        return [least, most, inside["exclude_min"], inside["exclude_max"]]
    return None


def text(whole: Json) -> str:
    """One class a line, so that one can be read without the others, and what they share above them."""
    separators = (",", ":")
    lines = [f"{json.dumps(name)}: {json.dumps(one, separators=separators)}" for name, one in whole["classes"].items()]
    shared = json.dumps(whole["shared"])
    return f'{{"version": "{whole["version"]}", "shared": {shared}, "classes": {{\n' + ",\n".join(lines) + "\n}}\n"


def main() -> int:
    logging.disable()  # of attributes that no config may set
    FILE.write_text(text(recorded()))
    return 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
