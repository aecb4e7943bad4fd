"""Records which values of single keys transformers builds no model with: `python tests/tools/built_values.py FOLDER`.

Run with each version, it notes each type in FOLDER/VERSION.jsonl, where the next run goes on, and writes
hfcount/mapper/built.json of what is noted there: a line for each model_type, by version; of an older version what
differs from the newest, and null where it was not asked. Each type is tried in a process of its own, which may take
MEMORY and SECONDS; one that takes more is left out, and FOLDER says why. Of a config that a judge has built, one key
at a time is set to each form of another value:

- `null`: null, in place of anything.
- `absent`: none, where the class refuses its own default whatever stands beside.
- `zero`: 0, in place of a size.
- `below`: -1, in place of a size, or of each size in a list.
- `whole`: a whole number, in place of one with a decimal point.
- `text`: the number in quotes.
- `half`: a half more, in place of a size.
- `listed`: a list of it, in place of a size or a word.
- `paired`: a list of it twice, in place of a size.
- `empty`: a list or an object without entries.
- `alone`: a number, in place of a list of them.
- `own`: the model_type of the whole, in place of that of a config nested in it.
- `word`: a word that is no activation, in place of one.
- `share_below`, `share_text`, `theta_text`: a negative number, or a number in quotes, in rope_parameters: of the share
  of a head's features that is turned, or of the base of its frequencies.
- `by_kind`: rope_parameters with an object for full_attention, where the class has none for kinds of layers.
- `kind_empty`: rope_parameters with an empty object for each kind.
- `kind_null`, `kind_theta`: null for each kind, or objects without a base.

`refused` has the keys by form with which no class of the type is built, in whatever variation of the config is; `same`
those keys, words and numbers that bear on no tensor, so that a model is built with the same ones; and `uneven` numbers
of heads, alone or in a list, each with the key of the size that has to be a multiple of them. A key of a nested config
whose type is recorded by itself is noted of the whole, by its path, where models of that type alone do not read it.

Values that the type of the key in the newest class rules out (values.json) are tried of older versions alone: `taken`
has the keys by shape of the value (hfcount/mapper/untyped.py) with which all classes of the type build the model
that they build without it, and `mixed` those with which one builds it, or another model, and another may build none.
"""

import json
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import built_record
import loading
from loading import Json

sys.path.append(str(Path(__file__).parents[1] / "support"))

PRIME = 7
VARIED, CLASSES = 2, 3
"""The variations of a config, and the classes, in which a refusal has to hold."""

ALWAYS = ("word", "own", "share_below", "share_text", "theta_text", "by_kind", "kind_empty", "kind_null", "kind_theta")
"""Forms of keys that are not read by their own name."""

SAME = ("zero", "below", "word", "share_below", "share_text", "theta_text")
"""Forms of which it is recorded that they change no tensor."""

SLOW = 2.0
"""Seconds: what a model may take to be built, so that hundreds of it can be."""

LONGEST = 20.0
"""Seconds of computing after which one config is given up, which is no answer."""

SECONDS = 180
"""Of computing: what one type may take."""

MEMORY = 4 << 30
"""Bytes: what one type may take beyond the libraries."""

LAYERS = 4
"""The layers of a model by the defaults of its class."""

COMMON = frozenset(
    "id2label label2id num_labels architectures model_type dtype torch_dtype transformers_version problem_type"
    " use_cache return_dict output_attentions output_hidden_states is_encoder_decoder tie_word_embeddings"
    " quantization_config rope_parameters rope_scaling rope_theta partial_rotary_factor chunk_size_feed_forward"
    " _name_or_path auto_map max_length min_length".split()
)
"""Keys that all classes read alike, and those of rotary positions, which rotary.py records."""

_STAGES = ("out_features", "out_indices", "stage_names")
"""Keys that all backbones read alike (stages.py)."""

ABSENT = object()
"""In place of a value: the key is taken away."""

_FILLING = "init"
"""In the names of keys by which tensors are filled that are not stored."""

Path_ = tuple[str, ...]
Cases = Mapping[str, Callable[[], Iterator[loading.Case]]]
"""How the configs of each type are made that is recorded by itself."""

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
    if key == "rope_scaling":
        yield "null", None
        return
    if isinstance(value, dict) and "model_type" in value:
        yield from [("own", {**value, "model_type": within})] if value["model_type"] != within else []
        return
    accepted = accepted_values(kind)
    if accepted and key in accepted.activations and isinstance(value, str):
        yield "word", "none such"
    yield from [] if "layer" in key else [("absent", ABSENT)]  # the defaults are tried with fewer of them
    if value is not None:
        yield "null", None
    if type(value) is float:
        yield from (("whole", int(value)), ("text", str(value)))
    if type(value) in (int, str):
        yield "listed", [value]
    if type(value) is int:
        yield "paired", [value, value]
    yield from _of_sizes(key, value) if isinstance(value, int | list) else ()
    if isinstance(value, list | dict) and value:
        yield "empty", type(value)()


def _of_sizes(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Other values of a size, or of a list of sizes."""
    heads = "head" in key and "dim" not in key and "size" not in key
    if type(value) is int and not key.endswith(("token_id", "token_index", "_id")):
        yield from (("zero", 0), ("below", -1), *([("uneven", PRIME)] if heads else []))
        yield from (("text", str(value)), ("half", value + 0.5))
    if isinstance(value, list) and value and all(type(item) in (int, float) for item in value):
        yield from (("alone", value[0]), ("below", [-1] * len(value)), ("text", [str(item) for item in value]))
        if heads:
            yield "uneven", [PRIME] * len(value)


def _rotary(settings: Json) -> Iterator[tuple[str, Any]]:
    usual = {"rope_type": "default", "rope_theta": 10000.0}
    by_kind = [name for name, item in settings.items() if isinstance(item, dict)]
    yield from (("null", None), ("absent", ABSENT), ("empty", {}))
    yield "kind_empty", {name: {} for name in by_kind or ["full_attention"]}
    yield from [] if by_kind else [("by_kind", {"full_attention": usual})]
    if by_kind:
        yield "kind_null", settings | dict.fromkeys(by_kind)
        bare = {name: {key: item for key, item in settings[name].items() if key != "rope_theta"} for name in by_kind}
        yield "kind_theta", settings | bare
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
            yield from keys(value, _kind_of_part(kind, key, value["model_type"]), (*path, key))
        elif key == "rope_parameters" and isinstance(value, dict) and value:
            yield (*path, key), kind, value
            yield (*path, "rope_scaling"), kind, ABSENT
        elif key not in COMMON:
            yield (*path, key), kind, value


def _kind_of_part(kind: str, key: str, named: str) -> str:
    """The type of a nested config, in whose place version 4 names that of the whole in some."""
    from hfcount.mapper.class_defaults import declared

    return (declared(kind).part(key, None).kind or named) if named == kind else named


def changed(values: Json, path: Path_, value: Any) -> Json:
    """A config with another value of one key."""
    result = deepcopy(values)
    place = result
    for key in path[:-1]:
        place = place.setdefault(key, {})
    if value is ABSENT:
        place.pop(path[-1], None)
    else:
        place[path[-1]] = value
    return result


def built(name: str, values: Json, filled: bool = False) -> Built | None:
    """The tensors of a model without weights by name; None if none is built.

    Args:
        filled: whether what is not stored has to be filled, too, as it is when all weights are loaded.
    """
    import torch

    try:
        from transformers.initialization import no_init_weights
    except ImportError:  # version 4
        from transformers.modeling_utils import no_init_weights
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        model = class_of(name, values)
        config = model.config_class.from_dict(deepcopy(values))
        with torch.device("meta"), no_init_weights():  # as from_pretrained does
            made = model(config)
        if filled:
            _fill(made)
        return {key: tuple(tensor.shape) for key, tensor in made.state_dict().items()}
    except (ImportError, MemoryError, TooLongError):  # which is no answer
        return {}
    except Exception as error:  # of any kind, since each class refuses in its own way
        return {} if "allocate memory" in str(error) else None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _fill(model: Any) -> None:
    """Fills what no checkpoint stores, such as places of tokens, in a model whose weights count as loaded."""
    for tensor in model.state_dict(keep_vars=True).values():
        tensor._is_hf_initialized = True
    older = transformers_version().startswith("4.")
    for module in model.modules():
        held = [*module.parameters(), *module.buffers()]
        filled = bool(held) or older  # which counts a module without any as filled
        module._is_hf_initialized = filled and all(getattr(one, "_is_hf_initialized", False) for one in held)
    model.initialize_weights()


class TooLongError(BaseException):
    """One config took LONGEST: no library may take this for an error of its own."""


def _too_long(*_: Any) -> None:
    raise TooLongError


class Read:
    """Notes which keys the models of a config read while they are built."""

    def __init__(self) -> None:
        from transformers import PretrainedConfig

        self.names: set[str] = set()
        usual = PretrainedConfig.__getattribute__

        def noted(config: Any, name: str) -> Any:
            self.names.add(name)
            return usual(config, name)

        self._hooked, self._usual, self._noted = PretrainedConfig, usual, noted

    def of(self, name: str, values: Json) -> set[str]:
        """The keys that a model reads."""
        import torch

        model = class_of(name, values)
        config = model.config_class.from_dict(deepcopy(values))
        self._hooked.__getattribute__ = self._noted
        try:
            with torch.device("meta"):
                model(config)
        finally:
            self._hooked.__getattribute__ = self._usual
        return set(self.names)


def whole(name: str, values: Json) -> Json:
    """A config with all defaults of its class."""
    config = class_of(name, values).config_class.from_dict(deepcopy(values))
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
    return [(name, config) for name, config in found if has_class(name, config) and built(name, config)]


def class_of(name: str, values: Json) -> Any:
    """A class by its name, exported or beside the config of the type."""
    import tiny

    return tiny.class_of({**values, "architectures": [name]})


def has_class(name: str, values: Json) -> bool:
    """Whether the installed version has a class, exported or beside the config of the type."""
    try:
        class_of(name, values)
    except (AttributeError, KeyError):
        return False
    return True


def _tried(case: loading.Case, known: Cases) -> Iterator[tuple[Path_, str, str, Any]]:
    """The keys of a config, each with the type of the config that it is in, and the forms of other values.

    Of a nested config whose type is recorded by itself there are those that models of that type alone never read.
    """
    alone: dict[str, set[str]] = {}
    for path, kind, value in keys(whole(case.name, case.config), case.kind):
        if not _is_given(case.config, path):
            continue
        nested = bool(path[:-1]) and kind in known
        if nested and kind not in alone:
            alone[kind] = _read_alone(known[kind])
        if not nested or (path[:-2] == () and path[-1] not in _STAGES and path[-1] not in alone[kind]):
            for form, other in forms(path[-1], value, kind, case.kind):
                yield path, kind, form, other


def _read_alone(made: Callable[[], Iterator[loading.Case]]) -> set[str]:
    """The keys that a model of a type reads where it is no part of another; all, if none is built."""
    try:
        first = _first([case for case in made() if has_class(case.name, case.config)])
        return Read().of(first.name, first.config)
    except Exception:  # of any kind, since each class refuses in its own way
        return _ALL


def _read(name: str, values: Json) -> set[str]:
    """The keys that a model reads; all, if it cannot be filled."""
    try:
        return Read().of(name, values)
    except Exception:  # of any kind, since each class fails in its own way
        return _ALL


class _Everything(set[str]):
    """A set that has all keys."""

    def __contains__(self, key: object) -> bool:
        return True


_ALL = _Everything()


def _is_known(case: loading.Case, used: set[str], at: tuple[Path_, str, str], value: Any) -> bool:
    """Whether a value is refused for its type, or is of a key that no model reads."""
    from hfcount.mapper.refusals import is_refused_by_type

    path, kind, form = at
    if form != "word" and value is not ABSENT and is_refused_by_type(kind, path[-1], value):
        return True
    read = form in ALWAYS or path[-1] == "rope_scaling" or _FILLING in path[-1] or path[-1] in used
    return not read and _parses(case, path, value)


def described(made: Callable[[], Iterator[loading.Case]], known: Cases) -> dict[str, Json]:
    """What is recorded of a type, and of the types of configs nested in it that are not recorded by themselves.

    Raises:
        LookupError: none of its configs is built, or only slowly.
    """
    cases = [case for case in made() if has_class(case.name, case.config)]
    first = with_parts(_first(cases))
    begun = time.process_time()
    usual, used = built(first.name, first.config), Read().of(first.name, first.config)
    if time.process_time() - begun > 2 * SLOW:
        raise LookupError(f"a model takes more than {SLOW} seconds to build")
    tried = [
        (path, *_noted_as(first, path, kind, known), form, other) for path, kind, form, other in _tried(first, known)
    ]
    found: dict[str, Json] = {at: {} for _, _, at, _, _, _ in tried}
    if transformers_version() != newest():
        _note_taken(found, first, cases, known)
    usable = built(first.name, _usual(first)) is not None  # then no default is refused
    varied: list[tuple[str, Json]] = []
    for path, kind, at, key, form, other in tried:
        if (form == "absent" and (usable or "." in key)) or _is_known(first, used, (path, kind, form), other):
            continue
        filled = form == "kind_null" or (form == "null" and _FILLING in path[-1])
        result = built(first.name, changed(first.config, path, other), filled)
        if result == usual and form in SAME and "." not in key:
            _note(found, at, "same", form, key)
        if result is None and _is_noted(first, path, form):
            varied = varied or variations(_classes(first, cases), first.config)
            if all(built(name, changed(config, path, other), filled) is None for name, config in varied):
                _note_refused(found, (first, path, at, key), form, other)
    return found


def _note_taken(found: dict[str, Json], first: loading.Case, cases: list[loading.Case], known: Cases) -> None:
    """Notes the values that the newest class refuses for their type, and that this version builds a model with."""
    from hfcount.mapper.accepted_values import accepted_values
    from hfcount.mapper.refusals import is_refused_by_type
    from hfcount.mapper.untyped import shape_of, untyped

    varied = [*variations(_classes(first, cases), first.config), *_further(first, cases)]
    read = [_read(name, config) for name, config in varied]
    used = _ALL if _ALL in read else set[str]().union(*read)
    usual = cache(lambda at, path, like: built(varied[at][0], _having(varied[at][1], path, like)))

    def outcome_of(at: int, path: Path_, other: Any, likes: tuple[Any, ...]) -> str:
        name, config = varied[at]
        result = built(name, changed(config, path, other), _FILLING in path[-1])
        same = bool(result) and all(result == usual(at, path, like) for like in likes)
        return "refused" if result is None else "same" if same else "other"

    outcomes: dict[tuple[str, str, str], set[str]] = {}
    for path, kind, value in keys(whole(first.name, first.config), first.kind):
        _, at, key = _noted_as(first, path, kind, known)
        if not _is_given(first.config, path) or "." in key:
            continue
        accepted = accepted_values(kind)
        is_share = accepted is not None and path[-1] in accepted.dropouts
        for other, likes in untyped(value):
            if not is_refused_by_type(kind, path[-1], other):
                continue
            outcome = outcomes.setdefault((at, shape_of(other, is_share), key), set())
            if path[-1] not in used and _FILLING not in path[-1]:
                outcome.add("same" if _parses(first, path, other) else "refused")
            elif (once := outcome_of(0, path, other, likes)) != "same" and "same" not in outcome:
                outcome.add(once)  # as it is of most sizes
            else:
                outcome.update(outcome_of(place, path, other, likes) for place in range(len(varied)))
    for (at, shape, key), outcome in outcomes.items():
        if outcome != {"refused"}:
            _note(found, at, "taken" if outcome == {"same"} else "mixed", shape, key)


def _having(values: Json, path: Path_, like: Any) -> Json:
    from hfcount.mapper.untyped import VALUE

    return values if like is VALUE else changed(values, path, like)


def _noted_as(case: loading.Case, path: Path_, kind: str, known: Cases) -> tuple[str, str, str]:
    """The type of the config that a key is in, the type that it is noted of, and its name there.

    A key that only the whole reads is noted of the whole, with its path.
    """
    beside = bool(path[:-1]) and kind in known
    return (kind, case.kind, ".".join(path)) if beside else (kind, kind, path[-1])


def _is_noted(case: loading.Case, path: Path_, form: str) -> bool:
    """Whether it is recorded that a form is refused: of words it is known, of what is absent by the class alone."""
    return form != "word" and (form != "absent" or _is_refused_absent(case, path))


def _first(cases: list[loading.Case]) -> loading.Case:
    first = next((case for case in cases if built(case.name, case.config)), None)
    if first is None:
        raise LookupError("no config of it is built")
    return first


def with_parts(case: loading.Case) -> loading.Case:
    """A case with the nested configs that it leaves to its class, where the class takes them as it writes them.

    One key alone in place of a nested config would change all others of it, too.
    """
    given = deepcopy(case.config)
    for path, _, value in keys(whole(case.name, case.config), case.kind):
        if isinstance(value, dict) and "model_type" in value and path[:-1] == ():
            given.setdefault(path[-1], value)
    same = given == case.config or built(case.name, given) == built(case.name, case.config)
    return case._replace(config=given) if same else case


def _is_given(values: Json, path: Path_) -> bool:
    """Whether a config has the nested config that a key is in."""
    place: Any = values
    for key in path[:-1]:
        place = place.get(key) if isinstance(place, dict) else None
    return isinstance(place, dict)


def _classes(first: loading.Case, cases: list[loading.Case]) -> list[str]:
    """The names of some classes of a type, the one that is asked first among them."""
    return [*dict.fromkeys(case.name for case in (first, *cases))][:CLASSES]


def _usual(case: loading.Case) -> Json:
    """A config that leaves all to the defaults of its class, but for the number of layers."""
    usual = {key: case.config[key] for key in ("model_type", "architectures") if key in case.config}
    layers = {name: min(size, LAYERS) for name, size in loading.usual(case.kind).items() if type(size) is int}
    return usual | layers


def _further(first: loading.Case, cases: list[loading.Case]) -> Iterator[tuple[str, Json]]:
    """All other classes of a type that build a model of its config."""
    from hfcount.verifier.loaders.facts import facts

    known = facts(transformers_version(), first.kind)
    for name in sorted(known.classes) if known else ():
        if name not in _classes(first, cases) and has_class(name, first.config) and built(name, first.config):
            yield name, first.config


def _is_refused_absent(case: loading.Case, path: Path_) -> bool:
    """Whether a class is refused by its own default of a key, be all others as the class has them or as the config."""
    value: Any = whole(case.name, case.config)
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    given = changed(_usual(case), path, value)
    return built(case.name, given) is not None and built(case.name, changed(given, path, ABSENT)) is None


def _parses(case: loading.Case, path: Path_, value: Any) -> bool:
    """Whether the config class takes a value, of which no model is built."""
    try:
        class_of(case.name, case.config).config_class.from_dict(changed(case.config, path, value))
    except Exception:  # of any kind, since each class refuses in its own way
        return False
    return True


@cache
def transformers_version() -> str:
    import transformers

    return str(transformers.__version__)


@cache
def newest() -> str:
    """The version whose classes values.json records."""
    from hfcount.mapper.class_defaults import version

    return version()


def _note_refused(found: dict[str, Json], at: tuple[loading.Case, Path_, str, str], form: str, value: Any) -> None:
    case, path, kind, key = at
    if form != "uneven":
        _note(found, kind, "refused", form, key)
    elif "." not in key and (by := _dividend(case, path, value)):
        found.setdefault(kind, {}).setdefault("uneven", {})[key] = by


def _dividend(case: loading.Case, path: Path_, value: Any) -> str:
    """The key beside a number of heads of which the number has to be a multiple of that; empty if there is none."""
    uneven = changed(case.config, path, value)
    for other, _, size in keys(whole(case.name, case.config), case.kind):
        beside = other[:-1] == path[:-1] and type(size) is int and size > PRIME and other != path
        if beside and built(case.name, changed(uneven, other, size * PRIME)) is not None:
            return other[-1]
    return ""


def _note(found: dict[str, Json], kind: str, what: str, form: str, key: str) -> None:
    names = found.setdefault(kind, {}).setdefault(what, {})
    names[form] = " ".join(sorted({*names.get(form, "").split(), key}))


def noted(made: Callable[[], Iterator[loading.Case]], known: Cases) -> Json:
    """What a process of its own finds of a type: `rows` by model_type, or `skipped`, which says why there are none."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            answer: Json = {"rows": _bounded(made, known)}
        except LookupError as error:
            answer = {"skipped": str(error)}
        except BaseException as error:  # the parent goes on with other types
            answer = {"skipped": f"{type(error).__name__}: {str(error)[:100]}"}
        with os.fdopen(writing, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    ended = os.waitstatus_to_exitcode(status)
    result: Json = json.loads(text) if text else {"skipped": f"its process ended with {ended}"}
    return result


def _bounded(made: Callable[[], Iterator[loading.Case]], known: Cases) -> dict[str, Json]:
    """What is recorded of a type, within MEMORY and SECONDS."""
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.signal(signal.SIGPROF, _too_long)
    return described(made, known)


def record(folder: Path) -> None:
    """Notes what the installed version makes of each type that is not noted yet."""
    import tiny
    import torch
    import transformers

    from hfcount.mapper.class_defaults import declared

    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity(60)
    loading.LAID_OUT = False
    cases, notes = dict(loading.cases()), folder / f"{transformers.__version__}.jsonl"
    recorded = loading.ROOT / "fixtures" / "architectures"
    known = {kind: made for kind, made in cases.items() if (recorded / f"{kind}.json").exists()}
    built("LlamaForCausalLM", tiny.RECORDED["llama"])  # imports what most of them need, once
    for kind in sorted(known):
        _note_type(notes, kind, cases[kind], known)
    # What is no model by itself in this version is recorded of those that it is a part of.
    parts = {row["type"] for row in built_record.noted(notes) if "skipped" in row}
    alone = {kind: made for kind, made in known.items() if kind not in parts}
    for kind in sorted(alone):
        if parts & {part.kind for part in declared(kind).parts.values()}:
            _note_type(notes, f"{kind}, its parts", cases[kind], alone)


def _note_type(notes: Path, name: str, made: Callable[[], Iterator[loading.Case]], known: Cases) -> None:
    """Notes a type under a name; by the defaults of its class it is too large to be built that often."""
    if name not in {row["type"] for row in built_record.noted(notes)}:
        row = {"type": name, **noted(made, known)}
        with notes.open("a") as file:
            file.write(json.dumps(row) + "\n")


def main() -> None:
    """Notes what the installed version makes of each type, and writes all that is noted."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "critical", "TQDM_DISABLE": "1"}
    warnings.simplefilter("ignore")
    from hfcount.mapper.class_defaults import version

    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    record(folder)
    rows = built_record.merged(folder, version())
    first = json.dumps({"library": "transformers", "versions": " ".join([version(), *built_record.VERSIONS])})
    text = ",\n".join(f"{json.dumps(kind)}: {json.dumps(row, separators=(',', ':'))}" for kind, row in rows.items())
    built_record.FILE.write_text(f'{{"all": {first}, "types": {{\n{text}\n}}}}\n')


if __name__ == "__main__":
    main()
