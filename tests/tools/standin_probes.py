"""Builds variants of a type's config on the meta device, for tests/tools/standins.py."""

import json
import random
import re
import typing
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from distinct import LAYERS

from hfcount.architectures.recorded_rules import is_number
from hfcount.architectures.stand_ins import absent, flattened
from hfcount.blueprints.derive_transformers import module_limit, saved_nodes
from hfcount.spec.tree.nodes import Tensor, Tied

Json = dict[str, Any]
Observed = dict[str, tuple[tuple[int, ...], str]]

_FEW_LAYERS = (4, 3, 6, 2, 8, 12)
_FEW_EXPERTS = (8, 16, 32)
_EXPERTS = re.compile(r"(?<!per_tok_)experts$")
_ACTIVATIONS = "gelu gelu_new gelu_pytorch_tanh prelu quick_gelu relu relu2 sigmoid silu swish tanh xielu".split()
"""Those that configs name, and those that have weights."""
_COUNTS = (1, 2, 3, 4, 5, 6, 8)
_FEW_IN_STAGES = (2,)
_STAGES = re.compile(r"(layers?|depths?|blocks)\.\d+$")
"""Items of a list that say how many layers each stage has."""
_SMALL = 12
_LIST = re.compile(r"\b(?:list|tuple|List|Tuple|Sequence)\[[^\[\]]*\]")
_BESIDE = ("tie_word_embeddings",)
"""The keys of every config that bear on tensors."""
IDS = re.compile(r"_(token|start|end|newline)_(id|index)s?$")
NOT_VARIED = ("transformers_version", "architectures", "model_type", "dtype", "torch_dtype", "_name_or_path")


class Probe(NamedTuple):
    """A config, and what was built of it: by path what it holds and what the class makes of it, and its tensors.

    Args:
        given: its keys by path, with defaults.
        taken: the attributes of the configuration object by path.
        tensors: names with their shapes and kinds; None if the configuration object alone was made.
    """

    values: Json
    given: Json
    taken: Json
    tensors: Observed | None


class Builder:
    """Builds models of one class, each config once.

    Attributes:
        defaults: what the class declares, and what it makes of nested configs.
        unprobed: the paths of keys that mean something else where the nested config that lacks them is given.
        nulls: those of keys that are then as if they were null.
        set_beside: the paths of undeclared attributes that a configuration object sets of itself; a config that has one
            overrides it.
    """

    def __init__(self, model_type: str, architecture: str, example: Mapping[str, Any] | None = None) -> None:
        import transformers

        self.model_type, self.architecture = model_type, architecture
        self.version = f"transformers {transformers.__version__}"
        self.config_class = transformers.CONFIG_MAPPING[model_type]
        self.common = _common_keys()
        _leave_weights_alone()
        self.built = 0
        self._known: dict[str, Probe | None] = {}
        self._saved: dict[int, Observed] = {}
        self._distinct: dict[int, Observed] = {}
        self._hashes: dict[int, tuple[Probe, dict[str, int]]] = {}
        module = import_module(self.config_class.__module__.replace(".configuration_", ".modeling_"))
        self.class_ = getattr(transformers, architecture, None) or getattr(module, architecture)
        self.defaults: Json = {}
        self.types: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.parts: list[str] = []
        self.set_beside: list[str] = []
        self.unprobed: list[str] = []
        self.nulls: list[str] = []
        self.source = ""
        usual = self._usual_config(example)
        self.defaults = {**self._declared(usual, self.config_class, ""), "num_labels": 2}
        self._settle_names()
        self._settle_parts()
        self.unprobed = sorted(self._unprobed())

    def _usual_config(self, example: Mapping[str, Any] | None) -> Any:
        """The configuration object of the defaults, or of the example where the class refuses its own defaults."""
        try:
            return self.config_class()
        except Exception:  # whatever its validators raise
            if not example:
                raise
            return self.config_class.from_dict(deepcopy(dict(example)))

    def _unprobed(self) -> set[str]:
        """The paths of keys that mean something else where the nested config that lacks them is given."""
        usual, found = self.settings({}), set[str]()
        for part in self.parts if usual else ():
            model_type = value_at(self.defaults, part).get("model_type")
            given = self.settings(with_value({}, part, {"model_type": model_type} if model_type else {}))
            for path, value in given.taken.items() if given and usual else ():
                if path.startswith(f"{part}.") and path in self.types and usual.taken.get(path) != value:
                    as_null = self.settings(with_value(given.values, path, None)) if given else None
                    (found.add if not as_null or not given or as_null.taken != given.taken else self.nulls.append)(path)
        return found

    def _declared(self, config: Any, kind: Any, path: str) -> Json:
        """The declared defaults of a class, with those of nested configs as the class makes them."""
        self._read_source(kind)
        found: Json = {}
        annotations = _annotations(kind)
        self.names |= {f"{path}{name}": f"{path}{key}" for name, key in kind.attribute_map.items()}
        for field in fields(kind):
            if field.name in self.common:
                continue
            value, name = _held(config, field.name), written_name(kind, field.name)
            if _is_config(value):
                self.parts.append(f"{path}{field.name}")
                found[field.name] = self._declared(value, type(value), f"{path}{field.name}.")
                found[field.name]["model_type"] = value.model_type
                continue
            default = field.default if field.default_factory is MISSING else field.default_factory()
            # what the class computes stays computed; what the model around it sets is a default
            found[name] = value if default is MISSING or (path and None not in (value, default)) else default
            self.types[f"{path}{name}"] = str(annotations.get(field.name, ""))
        for name in _set_beside(config):
            self.set_beside.append(f"{path}{name}")
            self.types[f"{path}{name}"] = type(getattr(config, name)).__name__
        return json.loads(json.dumps(found, default=str))  # type: ignore[no-any-return]  # an object stays one

    def _settle_parts(self) -> None:
        """Takes as defaults of nested configs what the class around them sets, where they would make something else."""
        usual, alone = self.settings({}), self.settings(self.defaults)
        for path, value in list(flattened(self.defaults, self.parts)) if usual and alone else ():
            if usual and alone and "." in path and value is None and usual.taken.get(path) != alone.taken.get(path):
                self.defaults = with_value(self.defaults, path, usual.taken[path])

    def _settle_names(self) -> None:
        """Keeps of further names of keys that the class declares as well those that do set the key, and them alone."""
        for path, key in list(self.names.items()):
            usual = value_at(self.defaults, path)
            if path not in self.types or type(usual) is not int:
                continue
            probe = self.settings(with_value({}, path, usual + 1))
            if probe is None or probe.taken.get(key) != usual + 1:
                del self.names[path]
                continue
            *above, last = path.split(".")
            del (value_at(self.defaults, ".".join(above)) if above else self.defaults)[last]

    def _read_source(self, kind: Any) -> None:
        for name in (kind.__module__, kind.__module__.replace(".configuration_", ".modeling_")):
            try:
                self.source += Path(import_module(name).__file__ or "").read_text(encoding="utf-8")
            except (ImportError, OSError):
                continue

    def given(self, values: Json) -> Json:
        """The keys of a config by path, with defaults where they are absent."""
        nulls = dict.fromkeys(absent(self.nulls, values))
        return {**dict(flattened(self.defaults, self.parts)), **nulls, **dict(flattened(values, self.parts))}

    def probe(self, values: Json) -> Probe | None:
        """What is built of a config; None if that is refused."""
        return self._once(values, True)

    def settings(self, values: Json) -> Probe | None:
        """What the configuration class makes of a config; None if it refuses it."""
        return self._once(values, False)

    def _once(self, values: Json, whole: bool) -> Probe | None:
        key = json.dumps([whole, values], sort_keys=True)
        if key not in self._known:
            try:
                with warnings.catch_warnings(), module_limit(""):
                    warnings.simplefilter("ignore")
                    self._known[key] = self._built(values, whole)
            except (Exception, RecursionError):  # whatever its classes raise
                self._known[key] = None
        return self._known[key]

    def _built(self, values: Json, whole: bool) -> Probe:
        import torch

        config = self.config_class.from_dict({**deepcopy(values), "model_type": self.model_type})
        taken = {**dict(self._attributes(config, "")), "num_labels": config.num_labels}
        if not whole:
            return Probe(values, self.given(values), taken, None)
        self.built += 1
        with torch.device("meta"):
            model = self.class_._from_config(config)
        key = _in_memory(model)
        if key not in self._saved:
            tensors = observed(model)
            self._saved[key] = self._distinct.setdefault(hash(tuple(sorted(tensors.items()))), tensors)
        return Probe(values, self.given(values), taken, self._saved[key])

    def hashes(self, probe: Probe) -> dict[str, int]:
        """A number for each key of a probe that stands for the key and what it holds; `*` has their sum."""
        if id(probe) not in self._hashes:
            numbers = {key: hash(f"{key}={json.dumps(value)}") for key, value in probe.given.items()}
            numbers["*"] = sum(numbers.values())
            self._hashes[id(probe)] = (probe, numbers)
        return self._hashes[id(probe)][1]

    def _attributes(self, config: Any, path: str) -> Iterator[tuple[str, Any]]:
        for field in fields(type(config)):
            if field.name in self.common:
                continue
            value = _held(config, field.name)
            if _is_config(value):
                yield from self._attributes(value, f"{path}{field.name}.")
            else:
                plain = json.loads(json.dumps(value, default=str))
                yield from flattened({f"{path}{written_name(type(config), field.name)}": plain}, ())
        for name in _set_beside(config):
            yield from flattened({f"{path}{name}": json.loads(json.dumps(getattr(config, name)))}, ())


def written_name(kind: Any, name: str) -> str:
    """The key of a field: what a class holds under a private name, and gives under the plain one, is written so."""
    return name[1:] if name[0] == "_" and isinstance(getattr(kind, name[1:], None), property) else name


def _held(config: Any, name: str) -> Any:
    """What a configuration object holds, for the whole where it refuses to say that, as some layers have their own."""
    try:
        return getattr(config, name, None)
    except RuntimeError:
        return vars(config).get(name)


def _set_beside(config: Any) -> list[str]:
    """The plain attributes of a configuration object that its class does not declare, but sets of itself."""
    declared = {field.name for field in fields(type(config))}
    common = _common_keys()
    return [
        name
        for name, value in vars(config).items()
        if name not in declared and name not in common and name[0] != "_" and _is_plain(value)
    ]


def is_words(value: Any) -> bool:
    """Whether a value is a list of texts."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str) or (isinstance(value, list) and all(map(_is_plain, value)))


def _leave_weights_alone() -> None:
    """Makes torch draw no random weights, which takes a third of the time that building takes."""
    nn = import_module("torch.nn")
    for kind in (nn.Linear, nn.Embedding, nn.modules.conv._ConvNd):
        kind.reset_parameters = _nothing


def _nothing(_module: Any) -> None:
    pass


def _is_config(value: Any) -> bool:
    return isinstance(value, _common())


@cache
def _common_keys() -> set[str]:
    """The keys that every configuration class has, but for those that bear on tensors."""
    return ({field.name for field in fields(_common())} | _common()().to_dict().keys()) - {*_BESIDE}


def _common() -> Any:
    """The class that all configuration classes are of."""
    import transformers

    return transformers.PreTrainedConfig


def _annotations(kind: Any) -> Json:
    try:
        return typing.get_type_hints(kind)
    except Exception:  # names that are imported for type checkers alone
        return {
            name: text
            for base in reversed(kind.__mro__)
            for name, text in vars(base).get("__annotations__", {}).items()
        }


def _in_memory(model: Any) -> int:
    """A number that stands for all that decides what is saved of a model of its class: modules, tensors and ties."""
    tensors: dict[int, str] = {}
    modules = [(name, type(module)) for name, module in model.named_modules()]
    state = [
        (name, tensor.shape, tensor.dtype, tensors.setdefault(id(tensor), name))
        for name, tensor in model.state_dict(keep_vars=True).items()
    ]
    buffers = [(name, buffer.shape, buffer.dtype) for name, buffer in model.named_buffers(remove_duplicate=False)]
    ties = sorted(getattr(model, "all_tied_weights_keys", {}).items())
    return hash((*modules, *state, *buffers, *ties, *sorted(model._keys_to_ignore_on_save or ())))


def observed(model: Any) -> Observed:
    """The tensors that are saved of a model: their shapes, and what each is."""
    import torch

    linear = {f"{path}.weight" for path, module in model.named_modules() if type(module) is torch.nn.Linear}
    nodes, in_memory = saved_nodes(model)
    found: Observed = {}
    for name, node in nodes.items():
        if isinstance(node, Tied):
            found[f"{name}"] = (node.shape, f"tied {node.to}")
        elif isinstance(node, Tensor) and node.presence != "obsolete":
            kind = "spare" if node.presence == "spare" else node.kind
            is_map = in_memory.get(name) in linear and name.endswith(".weight") and len(node.shape) == 2
            kind = "linear" if is_map and kind == "parameter" else kind
            found[name] = (node.shape, f"{kind}{' whole' if node.whole else ''}")
    return found


def with_value(values: Json, path: str, value: Any) -> Json:
    """A copy of a config with a key, or a number of a list, set; a place beyond the list's end is none."""
    if value_at(values, path) is None and path.rpartition(".")[2].isdecimal():
        return values
    changed = deepcopy(values)
    inner: Any = changed
    *above, last = path.split(".")
    for key in above:
        inner = inner[int(key)] if isinstance(inner, list) else inner.setdefault(key, {})
    inner[int(last) if isinstance(inner, list) else last] = value
    return changed


def with_values(values: Json, items: Iterable[tuple[str, Any]]) -> Json:
    """A copy of a config with several keys set."""
    for path, value in items:
        values = with_value(values, path, value)
    return values


def value_at(values: Json, path: str) -> Any:
    """What a config holds at a path; None if that is absent."""
    inner: Any = values
    for key in path.split("."):
        try:
            inner = inner[int(key)] if isinstance(inner, list) else inner.get(key)
        except (AttributeError, IndexError, ValueError):
            return None
    return inner


def _is_settled(path: str) -> bool:
    """Whether a key is of no use as a variant: the number of a token, or what is written beside the model."""
    key = path.rpartition(".")[2]
    return key in NOT_VARIED or bool(IDS.search(key))


def _is_either(kind: str) -> bool:
    """Whether a key may hold a whole number or a list."""
    rest, lists = _LIST.subn("", kind)
    return lists > 0 and bool(re.search(r"\bint\b", rest))


class Variants:
    """Values that keys may hold.

    Args:
        example: keys of a config that is built, where the defaults of the class are not.

    Attributes:
        base: a config of few layers, that is built.
        lengths: the paths of lists of words that the class makes as long as a number is, with that of the number.
    """

    def __init__(self, builder: Builder, seed: int = 0, example: Mapping[str, Any] | None = None) -> None:
        self.builder, self.random = builder, random.Random(seed)
        self.start, self._example = builder.defaults, example
        self.base = self._small()
        taken = builder.settings(self.base)
        assert taken is not None
        self.taken = taken.taken
        self.paths = [
            path
            for path in (*dict(flattened(self.base, builder.parts)), *builder.set_beside)
            if path not in builder.parts and (not _is_settled(path) or self._bears(path))
        ]
        self.words = {path: self._words(path) for path in self.paths}
        self.lengths = self._lengths()
        self.lengths = {} if not self.has_length(self.base) else self.lengths

    def _lengths(self) -> dict[str, str]:
        found: dict[str, str] = {}
        of_words = [path for path in self.paths if is_words(self.taken.get(path))]
        without = self.base
        for path in of_words:
            cleared = with_value(without, path, None)
            without = cleared if self.builder.settings(cleared) else without
        for number_ in self.numbers() if of_words else ():
            usual = value_at(self.base, number_)
            longer = self.builder.settings(with_value(without, number_, 2 * usual + 1)) if usual else None
            for path in of_words if longer else ():
                made = longer.taken.get(path) if longer else None
                if len(self.taken[path]) == usual and isinstance(made, list) and len(made) == 2 * usual + 1:
                    found.setdefault(path, number_)
        return found

    def has_length(self, values: Json) -> bool:
        """Whether the lists of a config are as long as the numbers say that the class would make them."""
        held = self.builder.given(values)
        return all(
            not isinstance(listed := held.get(path), list) or len(listed) == held.get(number_)
            for path, number_ in self.lengths.items()
        )

    def _bears(self, path: str) -> bool:
        """Whether the number of a token bears on tensors, as that of padding does where it is a row of positions."""
        now = value_at(self.base, path)
        if path.rpartition(".")[2] in NOT_VARIED or isinstance(now, list | str):
            return False
        usual, other = self.builder.probe(self.base), self.builder.probe(with_value(self.base, path, (now or 0) + 3))
        return usual is not None and other is not None and usual.tensors != other.tensors

    def _small(self) -> Json:
        """The defaults with few layers, and few experts where these take many modules."""
        values = self._smaller(deepcopy(self.start), self.builder.settings)
        if self.builder.probe(values) is None:
            values = self._smallest_that_builds()
        return values

    def _smaller(self, values: Json, takes: Callable[[Json], Probe | None]) -> Json:
        """The same with fewer layers, experts and stages, as far as the class takes each."""
        for path, value in list(flattened(values, self.builder.parts)):
            tried = _FEW_EXPERTS if _EXPERTS.search(path) else _FEW_LAYERS if LAYERS.search(path) else ()
            tried = _FEW_IN_STAGES if _STAGES.search(path) else tried
            if isinstance(value_at(values, f"{path.rpartition('.')[0]}.out_features"), list):
                continue  # these name layers
            for few in tried if type(value) is int and value > min(tried, default=value) else ():
                smaller = with_value(values, path, few)
                if few < value and takes(smaller):
                    values = smaller
                    break
        return values

    def _smallest_that_builds(self) -> Json:
        """The defaults, made smaller key by key as long as they are built."""
        if self.builder.probe(self.start) is None:
            if not self._example:
                raise ValueError(f"{self.builder.architecture} is not built of its defaults; --config gives others")
            more = {key: value for key, value in self._example.items() if key not in self.builder.common}
            self.start, self._example = {**self.start, **more}, None
            return self._small()
        values = self._smaller(deepcopy(self.start), self.builder.probe)
        return self._smaller(values, self.builder.probe)  # some may be smaller once others are

    def _words(self, path: str) -> list[str]:
        """Texts that a key is compared with in the source, or that its type lists; activations where it has one."""
        from transformers.activations import ACT2FN

        key = path.rpartition(".")[2]
        now = value_at(self.base, path)
        taken = self.taken.get(path)
        now = taken if now is None and isinstance(taken, str) else now
        kind = self.builder.types.get(path, "")
        if not isinstance(now, str) and "str" not in kind:
            return []
        literal = re.findall(r"'([^']+)'", kind) if "Literal" in kind else []
        compared = re.findall(
            rf"\b{re.escape(key)}\b\s*(?:==|!=|in|not in)\s*[\[(]?((?:[\"'][\w-]+[\"'](?:,\s*)?)+)", self.builder.source
        )
        texts = [word for group in compared for word in re.findall(r"[\"']([\w-]+)[\"']", group)]
        acts = [name for name in ACT2FN if name in _ACTIVATIONS] if isinstance(now, str) and now in ACT2FN else []
        return list(dict.fromkeys([*literal, *texts, *acts]))

    def numbers(self) -> list[str]:
        """The paths of numbers."""
        return [path for path in self.paths if is_number(value_at(self.base, path))]

    def singles(self, path: str) -> list[Any]:
        """What a key may hold in place of what it holds."""
        now = value_at(self.base, path)
        kind = self.builder.types.get(path, "")
        if path in self.builder.nulls and now is not None:
            return [None, *self._lists(path, now)] if isinstance(now, list) else [None]
        if isinstance(now, bool):
            return [not now]
        if isinstance(now, int | float):
            pair = [[now, now]] if isinstance(now, int) and _is_either(kind) else []
            return self._numbers(path, now, [None] if "None" in kind else []) + pair
        if isinstance(now, str):
            return [word for word in self.words[path] if word != now]
        if isinstance(now, list):
            single = [now[0]] if now and type(now[0]) is int and _is_either(kind) else []
            return self._lists(path, now) + single
        if now is None:
            return self._instead_of_null(path, kind)
        return []

    def _numbers(self, path: str, now: float, more: list[Any]) -> list[Any]:
        """Other numbers, 0 among them where it is a count."""
        if isinstance(now, float):
            return [value for value in (2 * now, now / 2, 0.0, 1.0, now + 1) if value != now] + more
        if path[-1].isdecimal():
            return [2 * now, now + 1] if now else [1, 2]
        is_count = now <= _SMALL and not LAYERS.search(path)
        others = [2 * now, 3 * now, now + 1, 1]
        return (
            [value for value in dict.fromkeys(others) if value not in (0, now)]
            + ([0] if is_count and now else [])
            + more
        )

    def _lists(self, path: str, now: list[Any]) -> list[Any]:
        """A shorter and a longer list; of switches, each one turned, and all."""
        if not now:
            return []
        if path in self.lengths:
            return self._words_anew(now)
        turned = [[not item for item in now]] if all(isinstance(item, bool) for item in now) else []
        if turned and len(now) <= _SMALL:
            turned += [[*now[:place], not now[place], *now[place + 1 :]] for place in range(len(now))]
        return [now[:-1], [*now, now[-1]], *turned]

    def _words_anew(self, words: list[str]) -> list[list[str]]:
        """Lists of the same length with other ones of its words in each place."""
        kinds = list(dict.fromkeys(words))
        swapped = [*words[1:], words[0]]
        return [words[::-1], swapped, *([kind] * len(words) for kind in kinds)]

    def _instead_of_null(self, path: str, kind: str) -> list[Any]:
        taken = self.taken.get(path)
        found: list[Any] = []
        if "bool" in kind or isinstance(taken, bool):
            found += [True, False]
        if ("int" in kind or (not kind and type(taken) is int)) and not kind.startswith("list"):
            start = taken if type(taken) is int and taken > 0 else 8
            found += [taken] if type(taken) is int else []
            found += [start, 2 * start, start // 2, 16, 64, 1, 0]
        if "float" in kind:
            found += [0.5, 1.0, 2.0]
        if isinstance(taken, list | str) and taken:
            found.append(taken)
        if isinstance(taken, list) and taken:
            found += self._words_anew(taken) if path in self.lengths else self._in_place_of_list(path, taken)
        found += self.words[path]
        if not kind:
            found += [8, True]
        return list(dict.fromkeys(map(json.dumps, found))) and [
            json.loads(text) for text in dict.fromkeys(map(json.dumps, found))
        ]

    def _in_place_of_list(self, path: str, taken: list[Any]) -> list[Any]:
        """Other lists of numbers, and other parts of the list that one of words is of, as a backbone's stages are."""
        if all(type(item) is int for item in taken):
            whole = [[factor * item for item in taken] for factor in (2, 3)]
            return whole + [[*taken[:place], taken[place] + 1, *taken[place + 1 :]] for place in range(len(taken))]
        above = path.rpartition(".")[0]
        for other, words in self.taken.items():
            is_beside = other != path and other.rpartition(".")[0] == above and isinstance(words, list)
            if is_beside and len(words) > len(taken) and all(isinstance(word, str) and word in words for word in taken):
                return [words[1:], words[:2], words[2:], words[:1], *([word] for word in words[1:])]
        return []

    def sized(self, path: str, now: float, large: bool = False) -> Any:
        """A random number for a key that holds one."""
        if isinstance(now, float):
            return now * self.random.choice((0.5, 1, 2, 3))
        if now <= _SMALL or LAYERS.search(path):
            return self.random.choice((16, 24, 40) if large and not path[-1].isdecimal() else _COUNTS)
        if large:
            return now * self.random.choice((1, 8, 16, 32)) if now < 200_000 else now
        factor = self.random.choice((0.25, 0.5, 1, 2, 3, 4, 5, 6))
        return max(int(now * factor), 1) + (self.random.choice((0, 0, 1)) if factor == 1 else 0)
