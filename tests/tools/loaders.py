"""Records what a version of transformers makes of checkpoints: `python tests/tools/loaders.py`, once with each version.

It writes hfcount/verifier/loaders/transformers-VERSION.json, one line per model_type. `--types A,B` prints those alone,
and `--diff 5.23.0 5.24.0` says what differs between two recorded versions. Without a mark below, absent is none.

- `auto`: false for a type that the auto classes do not know, so that its class alone opens it.
- `classes`: the model classes that can be imported from the library; `ties`: those of them that tie a head to the
  embedding where the flag says so, if the newest version does not.
- `rotary`: the settings of rotary positions that are refused: kinds by form (tests/tools/loading_rotary.py).
- `prefix`: the name of the base model in classes with a head, by `base_model_prefix`, where it is not `model`.
- `nulls`: keys that may be absent, and are refused where they are null.
- `padded`: false where a pad_token_id beyond the vocabulary is taken, as no embedding is built with it.
- `keys`, `names`, `parts`: the defaults of keys, further names of keys and model_types of nested configs, where
  hfcount/mapper/reference.json has none or others; `lacks`: keys that it has and this version does not take, `unnamed`
  those of its further names that this version does not take.
- `renamed`: by class, the prefixes of stored names that are not read, each with the prefix that is wanted instead.
- `wants`: by class, names that are random if they are not stored, although the newest version does not need them.
- `needs`: keys without which a config is refused; `refuses`: keys by which one is, each with the error.
- `sizes`: sizes that are not found under the key that the newest writes: that key, the one that is read, its default
  (null: the key that is read is one of the config's own, and the other is not read at all).
- `float32`: endings of the names of parameters that stay in float32 in a model of bfloat16, numbers as {}.
- `float16`: the same in a model of float16, where more parameters stay so.
- `writes`: by class, names that are saved though the newest does not save them; `omits`: those that are not saved
  though it does (tests/tools/loading_saves.py).
- `unknown`: what was not found out, and why.

In `renamed`, `wants`, `writes` and `omits` the class * stands for all, with and without a leading "model.".
"""

import argparse
import gc
import json
import os
import re
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from importlib import import_module
from math import prod
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import lines
import loading
import loading_causes
import loading_renames
import loading_rotary
import loading_saves
from classes import recorded as classes_recorded
from loading import Case, Loaded
from reference import IDS, NO_SHAPE

from hfcount.architectures import models

FOLDER = Path(__file__).parents[2] / "hfcount" / "verifier" / "loaders"
SECONDS = 150
"""How long all cases of a type may take."""

NULLS = ("head_dim", "num_key_value_heads")
"""Keys that many configs leave out or set to null."""

Json = dict[str, Any]

ORDER = "auto classes ties prefix keys lacks names unnamed parts renamed wants needs refuses sizes rotary nulls".split()
ORDER += ["padded", "float32", "float16", "writes", "omits", "unknown"]


def recorded(types: set[str] | None = None) -> Json:
    """The line of each type, or of those named."""
    found = _declared()  # here, so that what it imports is there for all processes
    for module in iter_modules(models.__path__, "hfcount.architectures.models."):
        import_module(module.name)
    gc.freeze()
    made = {kind: row for kind, row in found.items() if types is None or kind in types}
    for row in made.values():
        row.setdefault("unknown", "never loaded: no config is recorded")
    for kind, cases in loading.cases():
        if kind in made and (types is None or kind in types):
            row = apart(lambda cases=cases: _of_cases(list(cases())), SECONDS)
            made[kind] |= {"unknown": ""} | row if isinstance(row, dict) else {"unknown": row}
            print(
                kind, {key: value for key, value in made[kind].items() if key in ORDER[6:]}, file=sys.stderr, flush=True
            )
    return {
        kind: {key: row[key] for key in ORDER if row.get(key) or row.get(key) is False}
        for kind, row in sorted(made.items())
    }


def apart(action: Callable[[], Json], seconds: float) -> Json | str:
    """What a function gives in a process of its own, or why it gives nothing."""
    inner, outer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(inner)
        try:
            with os.fdopen(outer, "w") as pipe:
                pipe.write(json.dumps(action()))
        except BaseException:
            traceback.print_exc()
        os._exit(0)
    os.close(outer)
    text, ends = b"", time.monotonic() + seconds
    while ready := select.select([inner], [], [], max(0.0, ends - time.monotonic()))[0]:
        if not (part := os.read(inner, 1 << 16)):
            break
        text += part
    os.close(inner)
    if not ready:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not ready:
        return "loading takes too long"
    try:
        answer: Json = json.loads(text)
    except ValueError:
        return "the process that loads it ends"
    return answer


def _declared() -> Json:
    """What the classes of each type declare."""
    import transformers
    from transformers import CONFIG_MAPPING
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    rows: dict[str, Json] = {kind: {} for kind in CONFIG_MAPPING_NAMES}
    of_others = _classes_of_others()
    for kind in of_others.keys() | classes_recorded()["classes"].keys():
        names = f"{classes_recorded()['classes'].get(kind, '')} {' '.join(of_others.get(kind, ()))}"
        there = [name for name in sorted(set(names.split())) if _importable(transformers, name)]
        if there or kind in rows:
            rows.setdefault(kind, {"auto": False})["classes"] = " ".join(there)
            prefixes = {getattr(getattr(transformers, name), "base_model_prefix", "model") for name in there} - {
                "model",
                "",
            }
            rows[kind]["prefix"] = prefixes.pop() if len(prefixes) == 1 else ""
            rows[kind]["ties"] = " ".join(name for name in there if _ties(getattr(transformers, name)))
    for kind, row in rows.items():
        if kind in CONFIG_MAPPING_NAMES:
            try:
                row |= _config(CONFIG_MAPPING[kind], kind)
            except Exception as error:
                row["unknown"] = f"its config: {loading.short(error)}"
    for kind, config in _config_classes().items():
        if settings := loading_rotary.refused(config):
            rows.setdefault(kind, {"auto": False})["rotary"] = settings
    return rows


def _classes_of_others() -> dict[str, set[str]]:
    """The classes that the auto classes build for a type, those of other types among them."""
    from transformers.models.auto import modeling_auto

    found: dict[str, set[str]] = {}
    for name, table in vars(modeling_auto).items():
        if re.fullmatch(r"MODEL_(\w+_)?MAPPING_NAMES", name):
            for kind, classes in table.items():
                found.setdefault(kind, set()).update([classes] if isinstance(classes, str) else classes)
    return found


def _config_classes() -> Json:
    """The config classes by model_type, those of nested configs among them."""
    from transformers import CONFIG_MAPPING

    found: Json = {}
    left = [CONFIG_MAPPING[kind] for kind in CONFIG_MAPPING]
    while left:
        config = left.pop()
        if config.model_type not in found:
            found[config.model_type] = config
            left += [inner for inner in loading.nested(config).values() if getattr(inner, "model_type", "")]
    return found


def _ties(model: Any) -> bool:
    """Whether a class ties a head to its embedding where the flag says so."""
    keys = getattr(model, "_tied_weights_keys", None)
    return isinstance(keys, dict | list) and any(not re.search("embed(?!_out)|shared|wte", key) for key in keys)


def _importable(library: Any, name: str) -> bool:
    try:
        return "Placeholder" not in repr(type(one := getattr(library, name))) and not hasattr(one, "_backends")
    except Exception:  # it needs a library that is not installed
        return False


def _config(config: Any, kind: str) -> Json:
    """What a config class takes otherwise than reference.json has it."""
    from transformers import PretrainedConfig

    from hfcount.mapper.class_defaults import declared

    newest = declared(kind)
    common = set(loading.defaults(PretrainedConfig)) | set(vars(PretrainedConfig()))
    below = set(loading.nested(config)) | newest.parts.keys()
    taken = loading.defaults(config)
    own = {key: _plain(value) for key, value in taken.items() if key not in common | below and _bears(key, value)}
    keys = {key: value for key, value in own.items() if key not in newest.keys or newest.keys[key] != value}
    names = {
        name: key
        for name, key in config.attribute_map.items()
        if not NO_SHAPE.search(name) and newest.names.get(name) != key and newest.names.get(key) != name
    }
    taken_names = {*config.attribute_map, *config.attribute_map.values(), *taken}
    unnamed = [name for name, key in newest.names.items() if key in taken and name not in taken_names]
    mapped = {*config.attribute_map, *config.attribute_map.values()}
    lacks = sorted(key for key in newest.keys if key not in taken and key not in mapped and key not in common)
    row = {
        "keys": keys,
        "lacks": " ".join(lacks),
        "names": names,
        "unnamed": " ".join(unnamed),
        "parts": _parts(config, newest),
    }
    return {key: value for key, value in row.items() if value}


def _bears(key: str, value: Any) -> bool:
    return not key.startswith("_") and (not NO_SHAPE.search(key) or (type(value) is int and bool(IDS.search(key))))


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=lambda other: getattr(other, "model_type", None) or repr(other)[:40]))


def _parts(config: Any, newest: Any) -> Json:
    """The model_types of nested configs that have another in reference.json, or are not in it."""
    try:
        made = config()
    except Exception:  # a class that needs more than that
        return {}
    found: Json = {}
    for name in loading.nested(config):
        kind = getattr(getattr(made, name, None), "model_type", None)
        if kind and (name not in newest.parts or newest.parts[name].kind != kind):
            found[name] = kind
    return found


def _of_cases(cases: list[Case]) -> Json:
    """What becomes of the cases of one type."""
    import transformers

    cases = [case for case in cases if hasattr(transformers, case.name)]
    if not cases:
        return {"unknown": "never loaded: none of the classes tried is in it"}
    small = [case for case in cases if sum(map(prod, case.tensors.values())) <= loading.LARGEST]
    if not small:
        return _nulls(cases[0]) | _of_large(cases)
    row = _padded(small[0]) | _nulls(small[0])
    read: list[tuple[Case, Loaded]] = []
    two = 2 if sum(map(prod, small[0].tensors.values())) < loading.LARGEST / 10 else 1
    loads: list[tuple[Case, Loaded]] = [(case, loading.load(case)) for case in small[:two]]
    if any(loaded.error or loaded.missing or loaded.mismatched for _, loaded in loads):
        loads += [(case, loading.load(case)) for case in small[two:]]
    searched = 0
    for case, loaded in loads:
        if loaded.error or loaded.mismatched:
            found = None if searched == 2 else loading_causes.search(case)
            if found and not found.sizes and not all(isinstance(loading.built(other), str) for other, _ in loads):
                found = None  # it holds for this class alone
            searched = 2 if found else searched + 1
            if found:
                row.pop("unknown", None)
                row |= {key: value for key, value in found._asdict().items() if value}
            elif not any(key in row for key in ("needs", "refuses", "sizes")):
                row["unknown"] = f"{case.name}: {loaded.error or 'other shapes: ' + ' '.join(loaded.mismatched)[:100]}"
            continue
        read.append((case, loaded))
    names = _names(read)
    return row | names | _saved(cases, names)


def _saved(cases: list[Case], row: Json) -> Json:
    """What is saved otherwise than the newest does."""
    found = loading_saves.otherwise(cases[:2], row.get("renamed", {}))
    kept = found.pop("float16", None)
    return {
        "float16": _endings([kept]) if kept else [],
        **{name: _grouped(rows, lambda one: one) for name, rows in found.items()},
    }


def _padded(case: Case) -> Json:
    """Whether a pad_token_id beyond the vocabulary is taken, where that is found out."""
    beyond = case._replace(config={**case.config, "pad_token_id": 10**9})
    return {} if isinstance(loading.built(beyond), str) else {"padded": False}


def _nulls(case: Case) -> Json:
    """The keys of one size that are refused where they are null, of a config that is taken as it is."""
    text = case.config.get("text_config")
    place = text if isinstance(text, dict) else case.config
    refused = []
    for key in NULLS if not isinstance(loading.built(case), str) else ():
        inner = {**place, key: None}
        config = {**case.config, "text_config": inner} if place is text else inner
        if isinstance(loading.built(case._replace(config=config)), str):
            refused.append(key)
    return {"nulls": " ".join(refused)} if refused else {}


def _of_large(cases: list[Case]) -> Json:
    """What is found of cases that are too large to load, by building the first model without data."""
    case = cases[0]
    if loading.built(case):
        causes = loading_causes.search(case)
        found = {key: value for key, value in causes._asdict().items() if value} if causes else {}
        return found or {"unknown": "too large to load, and not built as it is stored"}
    row = _names([(case, loading.unloaded(case))])
    if row.pop("wants"):  # without loading it, ties of its parts are not told from what is random
        row["unknown"] = "too large to load; what its parts tie"
    return row


def _names(loads: list[tuple[Case, Loaded]]) -> Json:
    """What is renamed, random and in float32 in the models that were not refused."""
    renamed, wants = dict[str, Any](), dict[str, Any]()
    for case, loaded in loads:
        stored = loading.folded(case.tensors)
        renamed[case.name], left = loading_renames.pairs(loaded.missing, loaded.unexpected, stored)
        wants[case.name] = [name for name in left if not _by_tie(case, name)]
    single = {"": list[Any]()} if len(wants) == 1 else {}  # it may be of this class alone
    return {
        "renamed": _grouped(renamed, _bare),
        "wants": _grouped(wants | single, lambda name: name.removeprefix("model.")),
        "float32": _endings([loaded for _, loaded in loads]),
    }


def _by_tie(case: Case, name: str) -> bool:
    """Whether a name is missing since the version reads the flag that ties the head elsewhere."""
    from hfcount.mapper.loader_differences import ties

    text = case.config.get("text_config")
    tied = (text or {}).get("tie_word_embeddings", case.config.get("tie_word_embeddings", True))
    return "lm_head" in name and any(not one.tied for one in ties(case.config, case.kind, bool(tied) or True))


def _bare(pair: list[str]) -> list[str]:
    both = all(one.startswith("model.") for one in pair)
    return [one.removeprefix("model.") for one in pair] if both else pair


def _grouped(found: dict[str, list[Any]], bare: Callable[[Any], Any]) -> Json:
    """By classes; * if all agree but for a leading "model."."""
    plain = {name: sorted({json.dumps(bare(one)) for one in rows}) for name, rows in found.items()}
    first = next(iter(plain.values()), [])
    if first and all(rows == first for rows in plain.values()):
        return {"*": [json.loads(one) for one in first]}
    groups: dict[str, list[str]] = {}
    for name, rows in found.items():
        if rows:
            groups.setdefault(json.dumps(sorted(rows)), []).append(name)
    return {" ".join(names): json.loads(rows) for rows, names in groups.items()}


def _endings(loads: Iterable[Loaded]) -> list[str]:
    """The shortest endings that the names in float32 have, and no others."""
    kept = {name for loaded in loads for name in loaded.float32}
    rest = {f".{name}" for loaded in loads for name in loaded.other} - {f".{name}" for name in kept}
    found = set()
    for name in kept:
        parts = name.split(".")
        ends = (".".join(parts[at:]) for at in range(len(parts) - 1, -1, -1))
        found.add(next((end for end in ends if not any(one.endswith(f".{end}") for one in rest)), name))
    return sorted(one for one in found if not any(one != other and one.endswith(f".{other}") for other in found))


def differing(before: str, after: str) -> Iterable[str]:
    """What differs between two recorded versions, by kind of fact: a heading, then a line for each type."""
    old, new = (
        json.loads((FOLDER / f"transformers-{version}.json").read_text())["types"] for version in (before, after)
    )
    yield f"types that {after} adds: {', '.join(sorted(new.keys() - old.keys())) or 'none'}"
    yield f"types that it no longer has: {', '.join(sorted(old.keys() - new.keys())) or 'none'}"
    for fact in ORDER:
        changed = [kind for kind in sorted(old.keys() & new.keys()) if old[kind].get(fact) != new[kind].get(fact)]
        if changed:
            yield f"{fact}: {len(changed)} types"
            for kind in changed:
                yield f"  {kind}: {json.dumps(old[kind].get(fact))} -> {json.dumps(new[kind].get(fact))}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--types", help="print the lines of these alone")
    parser.add_argument("--print", action="store_true", help="print the file in place of writing it")
    parser.add_argument("--diff", nargs=2, metavar="VERSION", help="say what differs between two recorded versions")
    asked = parser.parse_args()
    if asked.diff:
        print("\n".join(differing(*asked.diff)))
        return 0
    only = asked.types
    os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    os.environ |= {"TRANSFORMERS_VERBOSITY": "critical", "TQDM_DISABLE": "1"}
    warnings.simplefilter("ignore")
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity(60)
    found = lines.text("transformers", transformers.__version__, recorded(set(only.split(",")) if only else None))
    if only or asked.print:
        print(found, end="")
    else:
        (FOLDER / f"transformers-{transformers.__version__}.json").write_text(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
