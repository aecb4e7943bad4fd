"""What the installed version of transformers makes of checkpoints as the newest writes them, found by loading them.

The configs are those that fixtures/architectures records, or the defaults of a class, with fewer layers; the tensors
are those that hfcount derives of them, all zero.
"""

import json
import re
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
LARGEST = 2 * 10**8
"""The elements of the largest model that is loaded."""
LAID_OUT = True
"""Whether a case has the tensors that hfcount lays out; without them it does not need to know the type."""

MOST = 5
"""The classes of a type that are tried."""
KINDS = ("Model", "ForCausalLM", "ForConditionalGeneration", "ForSequenceClassification", "ForImageClassification")

_LAYERS = re.compile(r"(^|_)(num_(\w+_)?layers|\w+_layers|n_layers?|depth)$")

Json = dict[str, Any]
Pairs = list[list[str]]


class Case(NamedTuple):
    """A checkpoint; the tensors are in the names that the newest saves."""

    kind: str
    name: str
    config: Json
    tensors: dict[str, tuple[int, ...]]


class Loaded(NamedTuple):
    """What came of loading it; `error` is empty unless it was refused, and `float32` are stored names, folded."""

    error: str = ""
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    mismatched: tuple[str, ...] = ()
    float32: tuple[str, ...] = ()
    other: tuple[str, ...] = ()


class Met(NamedTuple):
    """What one class makes of the case of its type."""

    case: Case
    loaded: Loaded


def cases() -> Iterator[tuple[str, Callable[[], Iterator[Case]]]]:
    """Each type, and its checkpoints: by a config that a judge has built, or else by the defaults of its class."""
    tried = set[str]()
    classes = (ROOT / "hfcount" / "mapper" / "classes.json").read_text()
    names = json.loads(classes)["classes"]
    for path in sorted((ROOT / "fixtures" / "architectures").glob("*.json")):
        recorded = json.loads(path.read_text())
        kind = recorded["config"].get("model_type")
        if recorded["judge"].startswith("transformers") and kind in names:
            tried.add(kind)
            yield kind, lambda recorded=recorded, kind=kind: _of_type(recorded["config"], kind, names[kind].split())
    for kind in names.keys() - tried:
        yield kind, lambda kind=kind: _of_type(usual(kind), kind, names[kind].split())


def usual(kind: str) -> Json:
    """A config that leaves all to the defaults of its class, but for fewer layers."""
    from hfcount.mapper.class_defaults import declared

    layers = {name: value for name, value in declared(kind).keys.items() if _LAYERS.search(name) and type(value) is int}
    return {"model_type": kind, "dtype": "bfloat16"} | {name: min(value, 4) for name, value in layers.items()}


def _of_type(config: Json, kind: str, names: list[str]) -> Iterator[Case]:
    import hfcount

    first = [*(config.get("architectures") or [])[:1]]
    whole = bool(first) and first[0].endswith("Model")
    wanted = [name for end in KINDS for name in names if name.endswith(end) and not name.endswith("LMHeadModel")]
    wanted.sort(key=lambda name: name.endswith("Model") == whole)  # the other kind first
    for name in dict.fromkeys((first + wanted)[:MOST]):
        values = {**_typed(config, kind), "architectures": [name]}
        try:
            leaves = hfcount.blueprint(deepcopy(values)).leaves if LAID_OUT else ()
        except Exception:  # a class that hfcount does not lay out
            continue
        stored = [leaf for leaf in leaves if leaf.presence == "required" and not leaf.tied_to]
        tensors = {one: tuple(int(size) for size in leaf.shape) for leaf in stored for one in leaf.names()}
        yield Case(kind, name, values, tensors)


def _typed(values: Json, kind: str) -> Json:
    """A config with the model_type of each nested one, which the newest writes."""
    from hfcount.mapper.class_defaults import declared

    known, found = declared(kind), dict(values)
    for key, value in values.items():
        if isinstance(value, dict) and key in known.parts:
            below = known.part(key, value).kind
            found[key] = _typed(value, below)
            if below and not below[:1].isupper():
                found[key].setdefault("model_type", below)
    return found


def folded(names: Iterable[str]) -> tuple[str, ...]:
    """Names, their numbers as {}."""
    return tuple(sorted({re.sub(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.)", "{}", name) for name in names}))


def load(case: Case) -> Loaded:
    """Loads a case in bfloat16."""
    import torch
    import transformers

    key = "torch_dtype" if transformers.__version__ < "5" else "dtype"
    with tempfile.TemporaryDirectory() as folder:
        written(case, Path(folder))
        try:
            kind = getattr(transformers, case.name)
            model, info = kind.from_pretrained(folder, output_loading_info=True, **{key: torch.bfloat16})
        except Exception as error:
            return Loaded(error=short(error))
    missing, unexpected, mismatched = (
        [one if isinstance(one, str) else one[0] for one in info.get(f"{kind}_keys") or ()]
        for kind in ("missing", "unexpected", "mismatched")
    )
    buffers = {name for name, _ in model.named_buffers()}
    missing = [name for name in missing if name not in buffers]
    kept, rest = dtypes(model, model.state_dict())
    return Loaded("", folded(missing), folded(unexpected), folded(mismatched), kept, rest)


def dtypes(model: Any, state: Json) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names, as saved, of the tensors in float32, and of the others."""
    import torch

    if not any(tensor.dtype == torch.float32 for tensor in state.values()):
        return (), ()
    saved = reverted(model, state)
    kept = {name for name, tensor in saved.items() if tensor.dtype == torch.float32}
    return folded(kept), folded(saved.keys() - kept)


def reverted(model: Any, state: Json) -> Json:
    """The tensors of a model under the names that are saved."""
    try:
        from transformers.core_model_loading import revert_weight_conversion
    except ImportError:  # version 4 saves what it holds
        return state
    found: Json = revert_weight_conversion(model, state)
    return found


def written(case: Case, folder: Path) -> None:
    """Writes the checkpoint; its data is a hole in the file."""
    (folder / "config.json").write_text(json.dumps(case.config))
    header: Json = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, shape in case.tensors.items():
        begin, end = end, end + 2 * prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)


def short(error: BaseException) -> str:
    """An error in a line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    lines = lines[1:] or lines if lines and lines[0].startswith("Error(s) in loading") else lines
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:140]


Shapes = list[tuple[tuple[int, ...], tuple[int, ...]]]


def built(case: Case) -> str | Shapes:
    """The error of building the model, or the shapes, stored and its own, of its parameters that differ."""
    import torch
    import transformers

    kind = getattr(transformers, case.name)
    try:
        with torch.device("meta"):
            model = kind(kind.config_class.from_dict(deepcopy(case.config)))
    except Exception as error:
        return short(error)
    differing = []
    for name, tensor in model.named_parameters():
        shape, stored = tuple(tensor.shape), case.tensors.get(name)
        if stored is None:  # it may be stored with another prefix
            parts = name.split(".")
            ends = (f".{'.'.join(parts[at:])}" for at in range(len(parts) - 1))
            found = next((fit for end in ends if (fit := [one for one in case.tensors if f".{one}".endswith(end)])), [])
            stored = case.tensors[found[0]] if len(found) == 1 else shape
        if stored != shape:
            differing.append((stored, shape))
    return differing


def unloaded(case: Case) -> Loaded:
    """What would come of loading a case, as far as its model without data tells."""
    import torch
    import transformers

    kind, usual = getattr(transformers, case.name), torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("meta"):
        model = kind(kind.config_class.from_dict(deepcopy(case.config)))
    torch.set_default_dtype(usual)
    tied = {*(getattr(model, "all_tied_weights_keys", None) or getattr(model, "_tied_weights_keys", None) or ())}
    names = "|".join(rf"(^|\.){name.replace('*', '.*')}($|\.)" for name in model._keep_in_fp32_modules_strict or ())
    state = {
        name: tensor.float() if names and re.search(names, name) else tensor
        for name, tensor in model.state_dict().items()
    }
    kept, rest = dtypes(model, state)
    buffers = {name for name, _ in model.named_buffers()}
    wanted = reverted(model, {name: tensor for name, tensor in state.items() if name not in tied | buffers}).keys()
    stored = {_converted(kind, name): name for name in case.tensors}
    lost = stored.keys() - reverted(model, state).keys()
    return Loaded("", folded(wanted - stored.keys()), folded(stored[name] for name in lost), (), kept, rest)


def _converted(kind: Any, name: str) -> str:
    """The name that version 4 looks for a stored one by."""
    from transformers import modeling_utils

    if any(one in kind.__name__.lower() for one in getattr(modeling_utils, "VLMS", ())):
        for pattern, other in kind._checkpoint_conversion_mapping.items():
            name, count = re.subn(pattern, other, name)
            if count:
                break
    return name


def nested(kind: Any) -> Json:
    """The classes of nested configs that a config class declares."""
    found = getattr(kind, "sub_configs", {})
    return found if isinstance(found, dict) else {}


def defaults(kind: Any) -> Json:
    """The keys that a config class takes, with their defaults."""
    from dataclasses import MISSING, fields, is_dataclass
    from inspect import Parameter, signature

    if is_dataclass(kind) and "__dataclass_fields__" in vars(kind):
        found = {
            one.name: one.default if one.default_factory is MISSING else one.default_factory() for one in fields(kind)
        }
        return {key: value for key, value in found.items() if value is not MISSING}
    own = signature(kind.__init__).parameters.values()
    return {
        one.name: one.default
        for one in own
        if one.name != "self" and one.kind is not Parameter.VAR_KEYWORD and one.default is not Parameter.empty
    }
