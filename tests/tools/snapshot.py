"""Records what the installed transformers makes of recorded configs: `python tests/tools/snapshot.py OUT [TYPE ...]`.

Models are built on the meta device, without data. It needs torch and transformers, and writes JSON to the file OUT:

- `types`: by table of configuration_auto, each model_type with what the table says of it.
- `classes`: the model classes of each model_type; `prefixes`: their base_model_prefix (tests/tools/classes.py).
- `absent`: by model_type, what a config without any key holds; keys of nested configs by their path.
- `nulls`: by model_type, which lists a config computes otherwise where one of its numbers is null.
- `names`: by model_type, further names of keys.
- `values`: by class, which values of its keys are taken; `*` for what all classes share (tests/tools/values.py).
- `tied`: by model class, which weights it ties where the flag says so.
- `renames`: by model_type, which stored names are taken for which.
- `built`: by recorded config, what is saved of its model, names folded: `tensors` with their shapes, how often each;
  `float32` for the names that stay in float32 in a model of bfloat16, `float32_of_float16` for those that do in one of
  float16 alone; `buffers` for those that no training changes; `ties`; `refused` with the error in place of all, if no
  model is built.

With TYPEs it records those alone. What this version does not let record is in `failed`, with the error.
"""

import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "support"))

Json = dict[str, Any]

_OWN = ("transformers_version", "_name_or_path", "architectures", "torch_dtype", "id2label", "label2id")


def recorded(only: frozenset[str] = frozenset()) -> Json:
    """All of it, or what concerns the types named."""
    import transformers

    parts: dict[str, Callable[[], Any]] = {
        "types": _tables,
        "classes": lambda: _classes("classes"),
        "prefixes": lambda: _classes("prefixes"),
        "absent": lambda: dict(_absent(only)),
        "nulls": lambda: dict(_nulls(only)),
        "names": lambda: dict(_names(only)),
        "values": _values,
        "tied": _tied,
        "renames": _renames,
        "built": lambda: dict(_built(only)),
    }
    if only:
        parts = {name: parts[name] for name in ("types", "absent", "nulls", "names", "built")}
    found: Json = {"version": transformers.__version__, "failed": {}}
    for name, record in parts.items():
        try:
            found[name] = record()
        except Exception as error:  # another version may have moved or renamed what is asked for
            found["failed"][name] = _short(error)
    return found


def _tables() -> Json:
    """The tables of configuration_auto that are about model_types."""
    from transformers.models.auto import configuration_auto

    tables = {name: table for name, table in vars(configuration_auto).items() if name.isupper() and _is_table(table)}
    return {name: {key: str(value) for key, value in table.items()} for name, table in sorted(tables.items())}


def _is_table(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(entry, str) for pair in value.items() for entry in pair)


_CLASSES: Json = {}


def _classes(part: str) -> Json:
    from classes import recorded as classes_recorded

    if not _CLASSES:
        _CLASSES.update(classes_recorded())
    found: Json = _CLASSES[part]
    return found


def _config_classes(only: frozenset[str]) -> Iterator[tuple[str, Any]]:
    from transformers import CONFIG_MAPPING
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    for kind in CONFIG_MAPPING_NAMES:
        if not only or kind in only:
            yield kind, CONFIG_MAPPING[kind]


def _absent(only: frozenset[str]) -> Iterator[tuple[str, Json]]:
    for kind, config in _config_classes(only):
        try:
            yield kind, flat(config().to_dict())
        except Exception as error:  # a class that needs more than that
            yield kind, {"": _short(error)}


def _nulls(only: frozenset[str]) -> Iterator[tuple[str, Json]]:
    for kind, config in _config_classes(only):
        try:
            usual = flat(config().to_dict())
        except Exception:  # a class that needs more than that, which `absent` names
            continue
        found = {}
        for key, value in usual.items():
            if "." in key or not value.lstrip("-").replace(".", "", 1).isdigit():
                continue
            with suppress(Exception):  # most need the number
                other = flat(config(**{key: None}).to_dict())
                lists = {name: text for name, text in other.items() if text[:1] == "[" and text != usual.get(name)}
                if lists:
                    found[key] = lists
        yield kind, found


def flat(values: Json, path: str = "") -> Json:
    """The keys of a config and of those nested in it, by path; their values as text."""
    found: Json = {}
    for key, value in values.items():
        if key in _OWN:
            continue
        if isinstance(value, dict) and "model_type" in value:
            found |= flat(value, f"{path}{key}.")
        else:
            found[f"{path}{key}"] = json.dumps(value, default=str, sort_keys=True)
    return found


def _names(only: frozenset[str]) -> Iterator[tuple[str, Json]]:
    for kind, config in _config_classes(only):
        if config.attribute_map:
            yield kind, dict(config.attribute_map)


def _values() -> Json:
    from values import recorded as values_recorded

    whole = values_recorded()
    return {"*": whole["shared"], **whole["classes"]}


def _tied() -> Json:
    import transformers

    names = sorted({name for names in _classes("classes").values() for name in names.split()})
    ties = {name: getattr(getattr(transformers, name, None), "_tied_weights_keys", None) for name in names}
    return {name: declared_ties(tied) for name, tied in ties.items() if tied}


def declared_ties(tied: object) -> Any:
    """What a class declares of its ties: a table or a list; one that computes it for each model, neither."""
    if isinstance(tied, dict):
        return tied
    return sorted(tied) if isinstance(tied, list | tuple | set) else "computed for each model"


def _renames() -> Json:
    from transformers import conversion_mapping

    mapping = conversion_mapping._build_checkpoint_conversion_mapping()
    return {kind: [_rename(entry) for entry in entries] for kind, entries in sorted(mapping.items())}


def _rename(entry: Any) -> str:
    """A conversion as text: patterns of stored names, of those in the model, and what is done with the tensors."""
    steps = [type(step).__name__ for step in getattr(entry, "operations", ())]
    sides = (getattr(entry, f"{side}_patterns", "") for side in ("source", "target"))
    return " → ".join(" + ".join(side if isinstance(side, list) else [str(side)]) for side in sides) + "".join(
        f", {step}" for step in steps
    )


def _built(only: frozenset[str]) -> Iterator[tuple[str, Json]]:
    for path in sorted((ROOT / "fixtures" / "architectures").glob("*.json")):
        record = json.loads(path.read_text())
        values = record["config"]
        if "transformers" in record["judge"] and (not only or values.get("model_type") in only):
            try:
                yield path.stem, _of_model(values)
            except Exception as error:  # whatever its classes raise
                yield path.stem, {"refused": _short(error)}


def _of_model(values: Json) -> Json:
    """What is saved of the model that a config describes."""
    import torch
    import transformers
    from loading import reverted
    from transformers_oracle import class_of, saved

    parsed = transformers.CONFIG_MAPPING[values["model_type"]].from_dict(deepcopy(values))
    try:
        build = class_of(values)._from_config
    except (ImportError, KeyError):  # a type that has a class of another type, or a config that names none
        build = transformers.AutoModelForCausalLM.from_config
    with torch.device("meta"):
        model = build(parsed, dtype=torch.bfloat16)
    ties = getattr(model, "all_tied_weights_keys", None) or {}
    plans = {"float32": "_keep_in_fp32_modules_strict", "float32_of_float16": "_keep_in_fp32_modules"}
    tensors, buffers = saved(model), {name for name, _ in model.named_buffers()}
    held = reverted(model, {name: one for name, one in model.state_dict().items() if name in buffers})
    return {
        "tensors": rows(tensors),
        "buffers": sorted({_folded(name) for name in held if name in tensors}),
        **{name: _kept(model, getattr(model, plan, None) or (), reverted) for name, plan in plans.items()},
        "ties": sorted({f"{_folded(one)} = {_folded(other)}" for one, other in ties.items()}),
    }


def _kept(model: Any, modules: Iterable[str], reverted: Callable[[Any, Json], Json]) -> list[str]:
    """The names, as saved, of the tensors that these modules keep in float32, and of those made in it."""
    import re

    import torch

    pattern = "|".join(rf"(^|\.){name.replace('*', '.*')}($|\.)" for name in sorted(modules))
    state = model.state_dict()
    held = {name for name, tensor in state.items() if tensor.dtype == torch.float32}
    held |= {name for name in state if pattern and re.search(pattern, name)}
    if not held:
        return []
    marked = {name: tensor.float() if name in held else tensor.bfloat16() for name, tensor in state.items()}
    return sorted({_folded(name) for name, tensor in reverted(model, marked).items() if tensor.dtype == torch.float32})


def rows(shapes: dict[str, tuple[int, ...]]) -> Json:
    """The shapes of each name, the numbers in it as {}, with how many tensors have each."""
    counts = Counter((_folded(name), "×".join(map(str, shape))) for name, shape in shapes.items())
    found: dict[str, list[str]] = {}
    for (name, shape), count in sorted(counts.items()):
        found.setdefault(name, []).append(f"{count} of ({shape})")
    return {name: ", ".join(texts) for name, texts in found.items()}


def _folded(name: str) -> str:
    from loading import folded

    (text,) = folded([name])
    return text


def _short(error: BaseException) -> str:
    from loading import short

    return short(error)


def main() -> int:
    import transformers

    transformers.utils.logging.set_verbosity(60)
    target, *types = sys.argv[1:]
    Path(target).write_text(json.dumps(recorded(frozenset(types)), default=str))
    return 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
