"""Records what transformers' configs mean by absent keys: `python tests/tools/reference.py` (extra `oracle`).

It writes hfcount/mapper/reference.json, one line per class, by model_type or, where no model_type means the class, by
the class's name: the declared default of each key (`keys`), further names of keys (`names`), and of each nested config
(`parts`) its class, whether a model_type of its own overrides that, what it holds where it is absent, and true if it
holds that, too, where keys are absent. Left out are keys of every class, and keys that bear neither on shapes nor on
how others are read, but for token ids.

It also writes hfcount/mapper/declared.json: by the same names, all further keys that a class declares, or sets of
itself and so saves.
"""

import json
import re
import sys
import warnings
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from hfcount.mapper.keys_without_shape import is_shapeless

FILE = Path(__file__).parents[2] / "hfcount" / "mapper" / "reference.json"
DECLARED = FILE.with_name("declared.json")

Json = dict[str, Any]

NO_SHAPE = re.compile(
    r"_token_(id|index|ids)$|dropout|drop_?(rate|path)|layer_?drop$|pdrop|(^|_)eps(ilon)?$|initial(?!_channel|_query)|(^|_)init(_std|_xavier_std)?$|^loss_(?!weighting)|(?<=.)(?<!obj_)(?<!attr_)(?<!feat_)loss|coef(?!ficient)"
    r"|^rope_|rope_(theta|scaling|parameters|type)|theta|dtype|momentum|softcap|scaling|^mask_(time|feature)_(length|min_masks)$|noise|alpha(?!_type)"
    r"|gamma|temperature|^(use_cache|output_(attentions|hidden_states|scores|router_logits)|return_(?!channel)|reorder_|gradient_)"
    r"|thresh|(?<!norm)_std$|(?<!norm)_mean$|cost$|interpolat|label_smooth|(?<!tie)_weight$|^num_beams$|^top_[kp]$|^verbose$"
)


IDS = re.compile(r"_token_(id|index)$")


def recorded(every: dict[str, set[str]] | None = None) -> Json:
    """What the file holds: the version of transformers, and its classes.

    `every` is given all keys of each class, whatever the file holds of them.
    """
    import transformers
    from transformers.configuration_utils import SubConfigSpec
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES

    known = {one: CONFIG_MAPPING[one] for one in CONFIG_MAPPING_NAMES}
    common = {field.name for field in fields(transformers.PreTrainedConfig)}

    def plain(values: Json) -> Json:
        kept = {
            key for key, value in values.items() if not NO_SHAPE.search(key) or (type(value) is int and IDS.search(key))
        }
        found = {key: value for key, value in values.items() if key in kept - common}
        return json.loads(json.dumps(found))

    def named(kind: Any) -> str:
        return named_as(kind, known)

    def described(kind: Any) -> Json:
        keys = {field.name: _default(field) for field in fields(kind)}
        written = {} if every is None else _written(kind)
        if every is not None:
            every.setdefault(named(kind), set()).update(keys, kind.attribute_map, written)
        below = kind.sub_configs_defaults or {
            name: SubConfigSpec(one, getattr(one, "model_type", "")) for name, one in kind.sub_configs.items()
        }
        parts = {}
        for name, part in below.items():
            fixed = issubclass(part.config_class, transformers.PreTrainedConfig)
            own = part.config_class if fixed else known.get(part.model_type)
            own, given = (own, part.init_kwargs) if own else _made(kind, name)
            further = own.attribute_map if own else {}
            absent = plain({further.get(key, key): value for key, value in given.items()})
            parts[name] = [named(own) if own else part.model_type, not fixed, absent]
            if absent and _merged(kind, name, absent, own):
                parts[name].append(True)
            wanted.extend([own] if own else [])
            if own and every is not None:  # what a config sets in those below it
                every.setdefault(named(own), set()).update(written.get(name) or ())
        # A name that is mapped to another is set under that, which need not be declared.
        pairs = [(name, key) if key in keys else (key, name) for name, key in kind.attribute_map.items()]
        names = {name: key for name, key in pairs if key in keys and not NO_SHAPE.search(name)}
        declared = plain({key: value for key, value in keys.items() if key not in below and value is not MISSING})
        whole = {"keys": dict(sorted(declared.items())), "names": dict(sorted(names.items())), "parts": parts}
        return {name: value for name, value in whole.items() if value}

    if every is not None:
        every["*"] = common | _written(transformers.PreTrainedConfig).keys()
    classes: Json = {}
    wanted: list[Any] = []
    for one, kind in known.items():
        classes[one] = described(kind)
    for kind in wanted:  # grows
        if named(kind) not in classes:
            classes[named(kind)] = described(kind)
    return {"version": transformers.__version__, "classes": dict(sorted(classes.items()))}


def _written(kind: Any) -> Json:
    """What a config of this class, made of its defaults, saves."""
    try:
        found: Json = kind().to_dict()
    except Exception:  # a class that needs more than that
        return {}
    return found


def named_as(kind: Any, known: Json) -> str:
    """How a class is named in the record: by its model_type, unless another class has that."""
    return kind.model_type if known.get(kind.model_type) is kind else kind.__name__


def classes_of() -> Json:
    """All classes that the record names, by name."""
    from transformers import PreTrainedConfig
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES

    known = {one: CONFIG_MAPPING[one] for one in CONFIG_MAPPING_NAMES}
    found, wanted = dict(known), list(known.values())
    for kind in wanted:  # grows
        specs = {name: (one.config_class, one.model_type) for name, one in kind.sub_configs_defaults.items()}
        specs = specs or {name: (one, getattr(one, "model_type", "")) for name, one in kind.sub_configs.items()}
        for name, (one, usual) in specs.items():
            own = one if issubclass(one, PreTrainedConfig) else known.get(usual) or _made(kind, name)[0]
            if own is not None and named_as(own, known) not in found:
                found[named_as(own, known)] = own
                wanted.append(own)
    return dict(sorted(found.items()))


def _made(kind: Any, name: str) -> tuple[Any, Json]:
    """The class of a nested config whose declared type there is not, as it is made where it is absent, and its keys."""
    try:
        made = getattr(kind(), name)
        keys = {field.name: _default(field) for field in fields(made)}
    except Exception:  # a class that needs more than that
        return None, {}
    return type(made), {key.lstrip("_"): getattr(made, key) for key in keys if getattr(made, key) != keys[key]}


def _merged(kind: Any, name: str, absent: Json, own: Any) -> bool:
    """Whether a nested config that is there takes, where it lacks keys, what it would hold if it were absent."""
    try:
        made = getattr(kind(**{name: {}}), name)
    except Exception:  # a class that needs more than that
        return False
    declared = {field.name: _default(field) for field in fields(own)}
    return all(getattr(made, key, None) == value for key, value in absent.items()) and any(
        declared.get(key) != value for key, value in absent.items()
    )


def _default(field: Any) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def text(whole: Json) -> str:
    """One class a line, so that one can be read without the others."""
    separators = (",", ":")
    lines = [f"{json.dumps(name)}: {json.dumps(one, separators=separators)}" for name, one in whole["classes"].items()]
    return f'{{"version": "{whole["version"]}", "classes": {{\n' + ",\n".join(lines) + "\n}}\n"


def declared(whole: Json, further: dict[str, set[str]]) -> Json:
    """What declared.json holds: by class the names that the other file lacks; `*` is of all classes."""
    common = further["*"]
    found = {"*": sorted(common)}
    for name, one in whole["classes"].items():
        known = {key for kind in ("keys", "names", "parts") for key in one.get(kind, ())}
        found[name] = sorted(key for key in further.get(name, set()) - common - known if not is_shapeless(key))
    return {name: " ".join(keys) for name, keys in found.items() if keys}


def lines(found: Json) -> str:
    """One class a line."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(keys)}" for name, keys in found.items()) + "\n}\n"


def main() -> int:
    further: dict[str, set[str]] = {}
    whole = recorded(further)
    FILE.write_text(text(whole))
    DECLARED.write_text(lines(declared(whole, further)))
    return 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
