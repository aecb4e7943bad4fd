"""Records where models hold an activation with weights: `python tests/tools/activations.py` (extra `oracle`).

With a list of types it records those alone again; with --check it marks types for which hfcount lays out others.

It writes hfcount/mapper/activations.json, whose first line says which activations hold tensors (`words`: their
names, shapes and whether each is a buffer), and then one line for each model_type: by the key that names the
activation, the modules that hold it. Each is its name, the path of the module around it, numbers as {}, and what else
that module has; modules that are counted in their names, such as expert_0 and expert_1, are expert_{}. `bare` are
modules at such a path that hold none.

A model of each class is built with every activation replaced by a module whose one parameter is called after the key.
"""

import json
import os
import sys
import warnings
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import loading
from loading import Case

from hfcount.mapper.activations import folded

FILE = Path(__file__).parents[2] / "hfcount" / "mapper" / "activations.json"
SECONDS = 60.0
MARK = "marks_"

KINDS_OF_LAYERS: dict[str, Any] = {
    "decoder_sparse_step": 2,
    "first_k_dense_replace": 1,
    "is_gated_act": False,
    "mlp_layer_types": ["dense", "sparse"],
    "mlp_only_layers": [0],
    "moe_layer_freq": 2,
    "n_routed_experts": 0,
    "n_shared_experts": 1,
    "num_experts": 0,
    "num_local_experts": 0,
    "num_shared_experts": 1,
    "shared_expert_intermediate_size": 8,
}
"""Values by which layers are of other kinds than those of the recorded config."""

Json = dict[str, Any]
Place = tuple[str, str, str]


def words() -> Json:
    """The tensors of each activation that has some: `name: [shape, whether it is a buffer]`."""
    from transformers.activations import ACT2CLS, ACT2FN

    found: Json = {}
    for word in ACT2CLS:
        module = ACT2FN[word]
        buffers = {name for name, _ in module.named_buffers()}
        if state := module.state_dict():
            found[word] = {name: [list(value.shape), name in buffers] for name, value in state.items()}
    return dict(sorted(found.items()))


def of_type(cases: list[Case]) -> Json:
    """The places in the models of one type."""
    held: dict[str, set[Place]] = {}
    modules: dict[str, set[str]] = {}
    keys: set[str] = set()
    for case in [*cases, *_varied(cases)]:
        try:
            marked, names = _built(case)
        except Exception:  # a class, or a varied config, that is not built
            continue
        keys.update(marked.values())
        around, places = _modules(names, marked)
        for key, found in places.items():
            held.setdefault(key, set()).update(found)
        for path, children in around.items():
            modules.setdefault(path, set()).update(children)
    row = {key: _shortest(held.get(key, set())) for key in sorted(keys)}
    with_one = {(path, children) for places in held.values() for _, path, children in places}
    paths = {path for path, _ in with_one}
    bare = {
        ("", path, children) for path in paths for children in modules.get(path, ()) if (path, children) not in with_one
    }
    return {"keys": row} | ({"bare": [row[1:] for row in _shortest(bare)]} if bare else {}) if keys else {}


def _varied(cases: list[Case]) -> Iterator[Case]:
    """Cases whose layers are of other kinds."""
    from hfcount.mapper.class_defaults import declared

    for case in cases[:1]:
        places = [("", case.config, case.kind)]
        places += [
            (key, value, declared(case.kind).part(key, value).kind)
            for key, value in case.config.items()
            if isinstance(value, dict)
        ]
        for path, values, kind in places:
            for key, usual in declared(kind).keys.items():
                value = not usual if isinstance(usual, bool) else KINDS_OF_LAYERS.get(key)
                if value is not None:
                    inner = {**values, key: value}
                    yield case._replace(config={**case.config, path: inner} if path else inner)


def _shortest(places: set[Place]) -> list[list[str]]:
    """The places without those that are others within a larger model."""
    kept = [
        one
        for one in sorted(places)
        if not any(other[0] == one[0] and other[2] == one[2] and one[1].endswith(f".{other[1]}") for other in places)
    ]
    return [list(one) for one in kept]


def _built(case: Case) -> tuple[dict[str, str], list[str]]:
    """The key of each mark, by its number, and the names of a model whose activations are marked, as they are saved."""
    import torch
    import transformers
    from transformers.activations import ACT2CLS, ACT2FN

    kind = getattr(transformers, case.name)
    config = kind.config_class.from_dict(deepcopy(case.config))
    marked: dict[str, str] = {}
    _mark(config, "", marked)
    if not marked:
        return {}, []
    try:
        for number in marked:
            made = partial(_marked, MARK + number)
            ACT2CLS[MARK + number] = made
            ACT2FN[MARK + number] = made
        taken = {key: MARK + number for number, key in marked.items() if _is_kept(kind, case, key)}
        _set(config, "", taken)
        with torch.device("meta"):
            model = kind(config)
    finally:
        for number in marked:
            ACT2CLS.pop(MARK + number, None)
            ACT2FN.pop(MARK + number, None)
    return marked, [*loading.reverted(model, model.state_dict())]


def _is_kept(kind: Any, case: Case, place: str) -> bool:
    """Whether a config class takes the word that a key has, and not one of its own."""
    values = inner = deepcopy(case.config)
    *outer, key = place.split(".")
    for name in outer:
        inner = inner.setdefault(name, {}) if isinstance(inner.get(name, {}), dict) else {}
    inner[key] = "prelu"
    try:
        config = kind.config_class.from_dict(values)
        for name in outer:
            config = getattr(config, name)
    except Exception:  # a nested config that is not given may need more than that
        return True
    return bool(getattr(config, key) == "prelu")


def _mark(config: Any, path: str, marked: dict[str, str]) -> None:
    """Numbers the keys of a config, and of those nested in it, that hold an activation."""
    from transformers import PreTrainedConfig
    from transformers.activations import ACT2FN

    for key, value in vars(config).items():
        if isinstance(value, PreTrainedConfig):
            _mark(value, f"{path}{key}.", marked)
        elif isinstance(value, str) and value in ACT2FN and not key.startswith("_"):
            marked[str(len(marked))] = path + key


def _set(config: Any, path: str, values: dict[str, str]) -> None:
    for place, word in values.items():
        inner = config
        *outer, key = place.split(".")
        for name in outer:
            inner = getattr(inner, name)
        object.__setattr__(inner, key, word)


def _marked(name: str) -> Any:
    """An activation whose one parameter has this name."""
    import torch

    module = torch.nn.PReLU()
    del module.weight
    module.register_parameter(name, torch.nn.Parameter(torch.zeros(1)))
    module.weight = None
    return module


def _modules(names: list[str], marked: dict[str, str]) -> tuple[dict[str, set[str]], dict[str, set[Place]]]:
    """What is in each module beside activations, by its path; and the places of these, by their key."""
    inside: dict[str, set[str]] = {}
    acts: dict[str, list[tuple[str, str]]] = {}
    for name in names:
        *outer, last = name.split(".")
        if last.startswith(MARK):
            acts.setdefault(".".join(outer[:-1]), []).append((outer[-1], marked[last.removeprefix(MARK)]))
            continue
        for at in range(len(outer) + 1):
            inside.setdefault(".".join(outer[:at]), set()).add([*outer, last][at])
    around: dict[str, set[str]] = {}
    for path in inside:
        around.setdefault(_folded(path, inside), set()).add(_children(path, inside))
    places: dict[str, set[Place]] = {}
    for path, found in acts.items():
        below = ""
        while path and path not in inside:  # a module that holds nothing else, as its weights are saved elsewhere
            path, _, last = path.rpartition(".")
            below = f"{last}.{below}"
        for own, key in found:
            own = below + own
            places.setdefault(key, set()).add((own, _folded(path, inside), _children(path, inside)))
    return around, places


def _children(path: str, inside: dict[str, set[str]]) -> str:
    return " ".join(sorted({*folded(inside.get(path, ())).values()}))


def _folded(path: str, inside: dict[str, set[str]]) -> str:
    """The path with each name as those beside it are counted."""
    names = path.split(".") if path else []
    beside = (inside.get(".".join(names[:at]), ()) for at in range(len(names)))
    return ".".join(folded([name, *others])[name] for name, others in zip(names, beside, strict=True))


def _compact(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


def doubtful(case: Case) -> bool:
    """Whether hfcount, with the places as they are recorded, lays out other activations than a model has."""
    import hfcount

    marked, names = _built(case)
    theirs = {name.rpartition(".")[0] for name in names if MARK in name}
    config = deepcopy(case.config)
    for key in marked.values():
        inner = config
        *outer, last = key.split(".")
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[last] = "prelu"
    try:
        usual, trained = ({one.name for one in hfcount.blueprint(made).tensors()} for made in (case.config, config))
    except hfcount.HfcountError:  # it says itself that it does not know
        return False
    return theirs != {name.rpartition(".")[0] for name in trained - usual}


def checked(kind: str, row: Json, cases: list[Case]) -> Json:
    """The row, or that the places of the type are not known."""
    if any(doubtful(case) for case in cases[:1]):
        return {"unknown": f"models of {kind} hold activations in some of several modules of one form"}
    return row


def main() -> int:
    os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    warnings.simplefilter("ignore")
    import torch
    import transformers
    from loaders import apart

    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity(60)
    asked = [one for one in sys.argv[1:] if one != "--check"]
    only, check = set(asked[0].split(",")) if asked else None, "--check" in sys.argv
    before: Json = json.loads(FILE.read_text())["types"] if FILE.exists() else {}
    loading.MOST = 30
    loading.KINDS = ("",)
    loading.LAID_OUT = False  # where activations are is what hfcount lays them out by
    rows: Json = {}
    for kind, cases in loading.cases():
        if only is None or kind in only:
            known = before.get(kind, {})
            if check and "keys" in known:
                row = apart(lambda cases=cases, kind=kind, known=known: checked(kind, known, [*cases()]), SECONDS)
            else:
                row = apart(lambda cases=cases: of_type([*cases()]), SECONDS)
            if row:
                rows[kind] = row if isinstance(row, dict) else {"unknown": row}
            print(kind, json.dumps(row)[:300], file=sys.stderr, flush=True)
    if only:  # the others stay as they are
        rows = before | rows
    head = {"library": "transformers", "version": transformers.__version__, "words": words()}
    text = ",\n".join(f"{json.dumps(kind)}: {_compact(row)}" for kind, row in sorted(rows.items()))
    FILE.write_text(f'{{"all": {_compact(head)}, "types": {{\n{text}\n}}}}\n')
    return 0


if __name__ == "__main__":
    sys.exit(main())
