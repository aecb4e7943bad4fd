"""Records which values of single keys transformers builds no model with: `python tests/tools/built_values.py`.

Run with each version, the newest first, it writes hfcount/mapper/built.json, a line for each model_type, by version.
Of a config that a judge has built, one key at a time is set to each form of another value:

- `null`: null, in place of anything.
- `zero`: 0, in place of a size.
- `below`: -1, in place of a size.
- `whole`: a whole number, in place of one with a decimal point.
- `empty`: a list or an object without entries.
- `alone`: a number, in place of a list of them.
- `own`: the model_type of the whole, in place of that of a config nested in it.
- `word`: a word that is no activation, in place of one.
- `share_below`, `share_text`, `theta_text`: a negative number, or a number in quotes, in rope_parameters: of the share
  of a head's features that is turned, or of the base of its frequencies.

`refused` has the keys by form with which no class of the type is built, in whatever variation of the config is; `same`
those keys, words and numbers that bear on no tensor, so that a model is built with the same ones; and `uneven` numbers
of heads, alone or in a list, each with the key of the size that has to be a multiple of them. Forms that the type of
the key in the class rules out (values.json) are not tried. An older version is asked (`asked`) only for what the
newest refuses.
"""

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import loading
from loading import Json

sys.path.append(str(Path(__file__).parents[1] / "support"))

FILE = Path(__file__).parents[2] / "hfcount" / "mapper" / "built.json"
PRIME = 7
VARIED = 3
"""The variations of a config in which a refusal has to hold."""

ALWAYS = ("word", "own", "share_below", "share_text", "theta_text")
"""Forms of keys that are not read by their own name."""

SAME = ("zero", "below", "word", "share_below", "share_text", "theta_text")
"""Forms of which it is recorded that they change no tensor."""

SLOW = 2.0
"""Seconds: what a model may take to be built, so that hundreds of it can be."""

COMMON = frozenset(
    "id2label label2id num_labels architectures model_type dtype torch_dtype transformers_version problem_type"
    " use_cache return_dict output_attentions output_hidden_states is_encoder_decoder tie_word_embeddings"
    " quantization_config rope_parameters rope_scaling rope_theta partial_rotary_factor chunk_size_feed_forward"
    " _name_or_path auto_map max_length min_length".split()
)
"""Keys that all classes read alike, and those of rotary positions, which rotary.py records."""

Path_ = tuple[str, ...]
Built = dict[str, tuple[int, ...]]


def forms(key: str, value: Any, kind: str, within: str) -> Iterator[tuple[str, Any]]:
    """Other values of a key, by form.

    Args:
        kind: the type of the config that has the key.
        within: that of the whole.
    """
    from hfcount.mapper.accepted_values import accepted_values

    if key == "rope_parameters":
        yield from _rotary(value)
        return
    if isinstance(value, dict) and "model_type" in value:
        yield from [("own", {**value, "model_type": within})] if value["model_type"] != within else []
        return
    accepted = accepted_values(kind)
    if accepted and key in accepted.activations and isinstance(value, str):
        yield "word", "none such"
    if value is not None:
        yield "null", None
    if type(value) is float:
        yield "whole", int(value)
    yield from _of_sizes(key, value) if isinstance(value, int | list) else ()
    if isinstance(value, list | dict) and value:
        yield "empty", type(value)()


def _of_sizes(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Other values of a size, or of a list of sizes."""
    heads = "head" in key and "dim" not in key and "size" not in key
    if type(value) is int and not key.endswith(("token_id", "token_index", "_id")):
        yield from (("zero", 0), ("below", -1), *([("uneven", PRIME)] if heads else []))
    if isinstance(value, list) and value and all(type(item) in (int, float) for item in value):
        yield "alone", value[0]
        if heads:
            yield "uneven", [PRIME] * len(value)


def _rotary(settings: Json) -> Iterator[tuple[str, Any]]:
    for form, key, value in (
        ("share_below", "partial_rotary_factor", -0.25),
        ("share_text", "partial_rotary_factor", "0.5"),
        ("theta_text", "rope_theta", "10000.0"),
    ):
        nested = {name: {**item, key: value} if isinstance(item, dict) else item for name, item in settings.items()}
        yield form, nested if any(isinstance(item, dict) for item in settings.values()) else {**settings, key: value}


def keys(values: Json, kind: str, path: Path_ = ()) -> Iterator[tuple[Path_, str, Any]]:
    """The keys of a config and of those nested in it: their paths, the type of the config they are in, and values."""
    for key, value in sorted(values.items()):
        if isinstance(value, dict) and isinstance(value.get("model_type"), str):
            yield (*path, key), kind, value
            yield from keys(value, value["model_type"], (*path, key))
        elif key not in COMMON or (key == "rope_parameters" and isinstance(value, dict) and value):
            yield (*path, key), kind, value


def changed(values: Json, path: Path_, value: Any) -> Json:
    """A config with another value of one key."""
    result = deepcopy(values)
    place = result
    for key in path[:-1]:
        place = place.setdefault(key, {})
    place[path[-1]] = value
    return result


def built(name: str, values: Json) -> Built | None:
    """The tensors of a model without weights by name; None if none is built."""
    import torch
    import transformers

    model = getattr(transformers, name)
    try:
        config = model.config_class.from_dict(deepcopy(values))
        with torch.device("meta"):
            return {key: tuple(tensor.shape) for key, tensor in model(config).state_dict().items()}
    except MemoryError:  # which is no answer
        return {}
    except Exception:  # of any kind, since each class refuses in its own way
        return None


def is_refused_by_type(kind: str, key: str, value: Any) -> bool:
    """Whether values.json tells already that the class refuses a value."""
    from hfcount.mapper.accepted_values import accepted_values
    from hfcount.mapper.refusals import _needed

    accepted = accepted_values(kind)
    return accepted is not None and _needed(accepted, key, value) is not None


class Read:
    """Notes which keys the models of a config read while they are built."""

    def __init__(self) -> None:
        from transformers import PretrainedConfig

        self.names: set[str] = set()
        usual = PretrainedConfig.__getattribute__

        def noted(config: Any, name: str) -> Any:
            self.names.add(name)
            return usual(config, name)

        PretrainedConfig.__getattribute__ = noted

    def of(self, name: str, values: Json) -> set[str]:
        """The keys that a model reads."""
        import torch
        import transformers

        model = getattr(transformers, name)
        config = model.config_class.from_dict(deepcopy(values))
        self.names.clear()
        with torch.device("meta"):
            model(config)
        return set(self.names)


def whole(name: str, values: Json) -> Json:
    """A config with all defaults of its class."""
    import transformers

    config = getattr(transformers, name).config_class.from_dict(deepcopy(values))
    found: Json = json.loads(json.dumps(config.to_dict(), default=str))
    return found


def variations(names: list[str], values: Json) -> list[tuple[str, Json]]:
    """Classes and configs of a type that are built: each class, and some configs with other switches and sizes."""
    import tiny

    rng = Random(0)
    found = [(name, values) for name in names]
    for _ in range(VARIED):
        try:
            odd = tiny.odd(values, rng)
        except Exception:  # a config that the installed version does not take
            break
        found.append((odd["architectures"][0], odd))
    return [(name, config) for name, config in found if hasattr_(name) and built(name, config)]


def hasattr_(name: str) -> bool:
    """Whether a class is exported."""
    import transformers

    return hasattr(transformers, name)


def _tried(case: loading.Case, known: set[str]) -> Iterator[tuple[Path_, str, str, Any]]:
    """The keys of a config, each with the type of the config that it is in, and the forms of other values."""
    for path, kind, value in keys(whole(case.name, case.config), case.kind):
        if kind not in known or not path[:-1]:
            for form, other in forms(path[-1], value, kind, case.kind):
                yield path, kind, form, other


def _is_known(case: loading.Case, used: set[str], at: tuple[Path_, str, str], value: Any) -> bool:
    """Whether a value is refused for its type, or is of a key that no model reads."""
    path, kind, form = at
    if form != "word" and is_refused_by_type(kind, path[-1], value):
        return True
    return form not in ALWAYS and path[-1] not in used and _parses(case, path, value)


def described(made: Callable[[], Iterator[loading.Case]], read: Read, known: set[str]) -> dict[str, Json]:
    """What is recorded of a type, and of the types of configs nested in it that are not recorded by themselves."""
    cases = [case for case in made() if hasattr_(case.name)]
    begun = time.monotonic()
    first = next((case for case in cases if built(case.name, case.config)), None)
    if first is None or time.monotonic() - begun > SLOW:
        return {}
    usual, used = built(first.name, first.config), read.of(first.name, first.config)
    found: dict[str, Json] = {}
    varied: list[tuple[str, Json]] | None = None
    for path, kind, form, other in _tried(first, known):
        if _is_known(first, used, (path, kind, form), other):
            continue
        result = built(first.name, changed(first.config, path, other))
        if result == usual and form in SAME:
            _note(found, kind, "same", form, path)
        if result is None and form != "word":
            varied = variations([case.name for case in cases], first.config) if varied is None else varied
            if all(built(name, changed(config, path, other)) is None for name, config in varied):
                _note_refused(found, (first, path, kind), form, other)
    return found


def again(made: Callable[[], Iterator[loading.Case]], newest: dict[str, Json], known: set[str]) -> dict[str, Json]:
    """Which of the values that the newest version refuses an older one refuses; `asked` says that it was asked."""
    first = next((case for case in made() if hasattr_(case.name) and built(case.name, case.config)), None)
    found: dict[str, Json] = {}
    for path, kind, form, other in _tried(first, known) if first else ():
        found.setdefault(kind, {"asked": True})
        recorded = path[-1] in newest.get(kind, {}).get("refused", {}).get(form, "").split()
        if (recorded or form == "uneven") and built(first.name, changed(first.config, path, other)) is None:
            _note_refused(found, (first, path, kind), form, other)
    return found


def _parses(case: loading.Case, path: Path_, value: Any) -> bool:
    """Whether the config class takes a value, of which no model is built."""
    import transformers

    try:
        getattr(transformers, case.name).config_class.from_dict(changed(case.config, path, value))
    except Exception:  # of any kind, since each class refuses in its own way
        return False
    return True


def _note_refused(found: dict[str, Json], at: tuple[loading.Case, Path_, str], form: str, value: Any) -> None:
    case, path, kind = at
    if form != "uneven":
        _note(found, kind, "refused", form, path)
    elif by := _dividend(case, path, value):
        found.setdefault(kind, {}).setdefault("uneven", {})[path[-1]] = by


def _dividend(case: loading.Case, path: Path_, value: Any) -> str:
    """The key beside a number of heads of which the number has to be a multiple of that; empty if there is none."""
    uneven = changed(case.config, path, value)
    for other, _, size in keys(whole(case.name, case.config), case.kind):
        beside = other[:-1] == path[:-1] and type(size) is int and size > PRIME and other != path
        if beside and built(case.name, changed(uneven, other, size * PRIME)) is not None:
            return other[-1]
    return ""


def _note(found: dict[str, Json], kind: str, what: str, form: str, path: Path_) -> None:
    names = found.setdefault(kind, {}).setdefault(what, {})
    names[form] = " ".join(sorted({*names.get(form, "").split(), path[-1]}))


def main() -> None:
    """Writes what the installed version makes of each type."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "critical", "TQDM_DISABLE": "1"}
    warnings.simplefilter("ignore")
    import torch
    import transformers

    from hfcount.mapper.class_defaults import version

    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity(60)
    loading.LAID_OUT = False
    rows: Json = json.loads(FILE.read_text())["types"] if FILE.exists() else {}
    installed, newest = transformers.__version__, version()
    cases, read = dict(loading.cases()), Read()
    known = {kind for kind in cases if (loading.ROOT / "fixtures" / "architectures" / f"{kind}.json").exists()}
    asked = set(sys.argv[1:])
    for row in rows.values():
        if not asked:
            row.pop(installed, None)
    recorded = {kind: row[newest] for kind, row in rows.items() if newest in row}
    for kind, made in cases.items():
        if asked and kind not in asked:
            continue
        if kind not in known:  # by the defaults of its class it is too large to be built that often
            continue
        found = described(made, read, known) if installed == newest else again(made, recorded, known)
        for of, row in found.items():
            rows.setdefault(of, {}).setdefault(installed, {}).update(row)
    text = ",\n".join(
        f"{json.dumps(kind)}: {json.dumps(row, separators=(',', ':'))}" for kind, row in sorted(rows.items()) if row
    )
    FILE.write_text(f'{{"all": {{"library":"transformers"}}, "types": {{\n{text}\n}}}}\n')


if __name__ == "__main__":
    main()
