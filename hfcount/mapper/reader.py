"""Config: reads the keys of a config.json, with checks of type and range."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import isfinite
from typing import Any, Self, TypeAlias, TypeVar, cast

from hfcount.errors import ConfigError
from hfcount.formats.dtypes import MODELS, is_of_torch
from hfcount.mapper.accepted_values import ABSENT, accepted_values
from hfcount.mapper.built_values import BuiltValues, built_values
from hfcount.mapper.class_defaults import diffusers_version, is_of_diffusers, version
from hfcount.mapper.loader_differences import MovedSizes, RotaryDifference, TieDifference, moved, rotary, ties
from hfcount.mapper.refusals import Refusal, read_by_own_code, refusals
from hfcount.mapper.token_ids import TokenId, token_ids
from hfcount.mapper.tracking import REQUIRED, UNSAID, Tracked, plain
from hfcount.mapper.value_types import fits
from hfcount.spec.tree.dims import Dim, scaled
from hfcount.text import printable, shown

T = TypeVar("T")
# The methods below are named after the types they read, and hide these in the class body.
Int: TypeAlias = int
Bool: TypeAlias = bool
Str: TypeAlias = str

MAX_SIZE = 2**32
MAX_LAYERS = 2**62

_OTHER_MIXERS = ("lora_rank", "mamba", "ssm", "linear_", "conv", "lru_", "block_type", "pattern")
"""Words in keys of models of which layers may have no use for the numbers of heads."""
_HEADS = ("num_attention_heads", "num_key_value_heads", "head_dim")


class Config(Tracked):
    """A config.json, read by key.

    A key that is absent means what transformers' class of that model_type declares: in a nested config wherever it is
    absent, at the top where nothing else says what that means. A key with the value null counts as absent, but null is
    what it stays. Reading a key that is absent and has no default, has another type or is
    out of range raises ConfigError, which names the document, the key, what was found and what is needed.

    Args:
        values: the JSON object.
        where: the name of the document in messages, such as `org/model@ad44e77 config.json`.
        family: the model_type, for messages.
        path: the keys that lead to this part of the document, such as `text_config.`.
        chosen: full key paths that win when an alias is also present.
        kind: the model_type, or name, of the class that says what absent keys mean; by default the config's model_type.

    Attributes:
        ignored: keys that do not affect shapes in this family, here and in nested parts.
        layer_count: the number of layers, once it has been read.
        nested: whether this is part of another config.
        taken: keys absent at the top for which the class's default was taken, with it.
        differing: keys of which layers may have values of their own.
    """

    def int(self, *names: Str, default: Any = REQUIRED, minimum: Int | None = None, maximum: Int = MAX_SIZE) -> Int:
        """A whole number; `names` are aliases of one key, of which the first present one is read.

        Unless a `minimum` is given, it is a size: of 0 there are tensors without elements, of 0 and less no layers.
        """
        value, name = self._find(names, default)
        if name is None:
            unknown = names and isinstance(value, int) and not isinstance(value, Dim)
            return cast(Int, Dim.named(names[0], value, f"{self._path}{names[0]}, by default") if unknown else value)
        if type(value) is not int:
            value = self._as_taken(name, value, "a whole number", int)
        least = 1 if minimum is None else minimum
        if not least <= value <= maximum:
            if value < 0 and minimum is None and self._bears_on_nothing(name, value):
                self._note(self._misfit(name, value, f"{shown(least)} to {shown(maximum)}", built=True))
                return Dim.named(name, 1, self.source(name))
            if value > 0 or minimum is not None or (value and maximum != MAX_LAYERS):
                # What is divided by a number below 0, or counted up to it, is built all the same.
                built = value < least and not self._is_never_built(name, value)
                raise self._misfit(name, value, f"{shown(least)} to {shown(maximum)}", built=built)
            if self._is_never_built(name, value):
                raise self._misfit(name, value, f"{shown(least)} to {shown(maximum)}")
            text = f"{name} is {shown(value)}: a model may still be built and loaded, with this part empty."
            fix = "Correct it if that is not intended."
            self._note(self.error("out-of-range", text, name, fix, observed=value, built=True))
            value = 0
        return Dim.named(name, value, self.source(name))

    def choice(self, name: Str, known: Collection[Str], default: Any = REQUIRED) -> Str:
        """A word, which is one of those that are known."""
        word = self.str(name, default=default)
        if word not in known:
            *some, last = known
            needed = " or ".join(filter(None, (", ".join(some), last)))
            raise self.error("unknown-kind", f"{name} is {shown(word)}, but must be {needed}.", name, observed=word)
        return word

    def share(self, *names: Str, default: Any = REQUIRED) -> float:
        """A fraction, above 0 and at most 1."""
        value, name = self._find(names, default)
        if name is not None and (type(value) not in (int, float) or not 0 < value <= 1):
            raise self._misfit(name, value, "above 0 and at most 1", "HF001")
        return cast(float, value)

    def number(self, *names: Str, default: Any = REQUIRED, zero: Bool = False, below: Bool = False) -> float:
        """A number above 0, whole or not; with `zero` it may be 0, and with `below` any number."""
        value, name = self._find(names, default)
        if name is not None and type(value) not in (int, float):
            value = self._as_taken(name, value, "a number", int, float)
        if name is not None and not (0 < value <= MAX_SIZE or (zero and value == 0) or (below and isfinite(value))):
            raise self._misfit(name, value, f"above 0, to {shown(MAX_SIZE)}", built=isfinite(value))
        return cast(float, value)

    def times(self, name: Str, size: Int, *, default: Any = REQUIRED) -> Int:
        """`size` times a number above 0, whole or not, rounded down."""
        factor = self.number(name, default=default)
        known = self.given(name) and name not in self._assumed
        return scaled(factor, f"{self._path}{name}" if known else f"{factor}", size) if known or factor != 1 else size

    def bool(self, *names: Str, default: Any = REQUIRED) -> Bool:
        """true or false."""
        value, name = self._find(names, default)
        if name is None and any(map(self.has, names)):
            return False  # null is as good as false
        if name is not None and type(value) is not bool:
            if value in (0, 1) and self._is_refused(name, value):
                return bool(value)  # that it is refused is told of each such key (HF110)
            if isinstance(value, int | float) and not self._takes_anything(name):
                raise self._misfit(name, value, "true or false", "HF001")
            if not self._takes_anything(name):
                self._as_taken(name, value, "true or false", bool)  # who takes it takes it by its truth
            else:
                self._note_truth(name, value)
            return bool(value)
        return cast(Bool, value)

    def str(self, *names: Str, default: Any = REQUIRED) -> Str:
        """A string."""
        value, name = self._find(names, default)
        if name is not None and type(value) is not str:
            value = self._as_taken(name, value, "a text", str)
        return cast(Str, value)

    def strs(self, *names: Str, parted: Str = "") -> list[Str]:
        """A list of strings, empty if absent; `parted` is what a single string is parted by."""
        value = self._find(names, None)[0] if parted else None
        return value.split(parted) if isinstance(value, str) else self._list(names, str, "texts")

    def ints(
        self,
        *names: Str,
        default: Iterable[Int] | None = None,
        alone: Bool = False,
        least: Int = 0,
        minimum: Int | None = None,
    ) -> list[Int]:
        """A list of at least so many whole numbers, `default` if absent; with `alone` one number is a list of it.

        None of them is below the `minimum`, if there is one.
        """
        value, name = self._find(names, UNSAID if default is None else None)
        if name is None:
            numbers = list(default or ())
        else:
            numbers = [value] if alone and type(value) is int else self._list(names, int, "whole numbers")
        if len(numbers) < least:
            text = f"{names[0]} must name {least} and more whole numbers."
            raise self.error(
                "list-length", text, names[0], built=not numbers
            )  # which some look up only where they are used
        if name is None:
            return numbers
        if minimum is not None and any(number < minimum for number in numbers):
            raise self._misfit(name, min(numbers), f"{shown(minimum)} and more in each place")
        alike = len(set(numbers)) == 1
        sources = [self.source(name, "" if alike else f"[{place}]") for place in range(len(numbers))]
        return [Dim.named(name, number, source) for number, source in zip(numbers, sources, strict=True)]

    def length(self, *names: Str) -> Int | None:
        """The length of a list of anything; None if absent."""
        return None if self._find(names, UNSAID)[1] is None else len(self.entries(*names))

    def entries(self, *names: Str) -> list[Any]:
        """A list of anything, empty if absent."""
        value, name = self._find(names, UNSAID)
        if name is not None and not isinstance(value, list):
            value = self._as_taken(name, value, "a list", list)
        return value if isinstance(value, list) else []

    def sub(self, *names: Str) -> Self | None:
        """The config of a nested part, whose reads this config also tracks; None if absent."""
        value, name = self._find(names, None)
        if name is None:
            return None
        if not isinstance(value, dict):
            raise self._misfit(name, value, "an object", "HF001")
        if name not in self._parts:
            self._parts[name] = self._below(name, value)
        return self._parts[name]

    def part(self, *names: Str, defaults: Mapping[Str, Any] | None = None) -> Config:
        """The config of a part that the model always has, empty if absent.

        `defaults` are values of absent keys; they go before what the class says of a part that is absent.
        """
        return (self.sub(*names) or self._below(names[0], None, defaults)).assuming(defaults or {})

    def object(self, *names: Str) -> Mapping[Str, Any] | None:
        """A JSON object; None if absent."""
        value, name = self._find(names, None)
        if name is not None and not isinstance(value, dict):
            raise self._misfit(name, value, "an object", "HF001")
        return cast("Mapping[Str, Any] | None", value)

    def dtype(self) -> Str | None:
        """The dtype that the config declares for the weights, such as `bfloat16`; None if it declares none.

        Where `dtype` and its older name differ, `dtype` counts (transformers 4.57 and 5.23, configuration_utils.py).
        """
        older, (value, name) = self._find(("torch_dtype",), None), self._find(("dtype",), None)
        value, name = older if value is None else (value, name)
        if name is None or value is None or isinstance(value, dict):  # an object gives each part its own dtype
            return None
        if self._path:
            return self._dtype_of_part(name, value)
        declared = self.str(name)
        if declared not in MODELS:
            self._note_dtype(name, declared, f"one of {', '.join(MODELS)}")
        return declared.removeprefix("torch.")

    def _dtype_of_part(self, name: Str, value: Any) -> Str | None:
        """The dtype that a nested config declares; None for one that no model is built in, and for a number.

        transformers looks a text up in torch, and builds each part in the dtype of the whole
        (5.24.0, configuration_utils.py; recorded by loading four types with each such value).
        """
        if isinstance(value, int | float):
            return None
        declared = self.str(name)
        if not is_of_torch(declared):
            self._note_dtype(name, declared, "a dtype of torch")
        return declared if declared in MODELS else None

    def _note_dtype(self, name: Str, declared: Str, needed: Str) -> None:
        text = f"{name} is {shown(declared)}, but must be {needed}: transformers {version()} refuses others."
        fix = "Write the dtype of the weights."
        self._note(self.error("unknown-kind", text, name, fix, expected=MODELS[0], observed=declared))

    @property
    def token_ids(self) -> tuple[TokenId, ...]:
        """The token ids that it names, here and in nested configs."""
        return tuple(token_ids(self._values, self.kind, self._path))

    def ties_otherwise(self, tied: Bool) -> tuple[TieDifference, ...]:
        """The readers that do not tie the head where the reference does, or the other way round."""
        return ties(self._values, self.kind, tied)

    @property
    def moved(self) -> MovedSizes | None:
        """The sizes at the top level that version 4 takes for the language model, and the reference does not."""
        return moved(self._values, self.kind)

    @property
    def rotary_otherwise(self) -> tuple[RotaryDifference, ...]:
        """The settings of rotary positions that readers take differently, here and in nested configs."""
        return tuple(rotary(self._values, self.kind))

    @property
    def refused(self) -> tuple[ConfigError, ...]:
        """What transformers refuses in it, here and in nested configs, whether its class declares these or not."""
        further = [part for name, part in self._parts.items() if name not in self._declared().parts]
        read = (part.refused for part in further if not read_by_own_code(self._values, part._values))
        unused = {*self._declared().parts} - {*self._parts, *self._read} if self._read else ()
        return sum(read, tuple(map(self._refused, refusals(self._values, self.kind, self._path, unused))))

    def _refused(self, refusal: Refusal) -> ConfigError:
        key, by = printable(refusal.key), f"transformers {version()} refuses"
        observed: Any = "absent"
        if refusal.value is ABSENT:
            text, expected = f"{key} is absent, and {refusal.needed}: {by} the config.", "given"
        else:
            holds = f"has {shown(refusal.value)}" if refusal.inside else f"is {shown(refusal.value)}"
            text, expected = f"{key} {holds}, but must be {refusal.needed}: {by} others.", refusal.needed
            observed = plain(refusal.value)
        if not refusal.sure:
            text = f"{key} is {shown(refusal.value)}, but must be {expected}: else no model is built, or it cannot run."
            values = {"key": refusal.key, "fix": "Correct it.", "expected": expected, "observed": observed}
            return ConfigError(f"{self.where}: {text}", variant="out-of-range", **values, built=True)
        fix = f"Write {refusal.instead}." if refusal.instead else None
        values = {"key": refusal.key, "fix": fix, "expected": expected, "observed": observed}
        return ConfigError(f"{self.where}: {text}", "HF110", **values)

    def _is_never_built(self, name: Str, value: Int) -> Bool:
        """Whether no model is built with a size below 1: some tensor has a negative extent, or it is divided by 0."""
        if self._path.count(".") > 1:  # further parts may be replaced, and are never built then
            return False
        built = self._built_values()
        if built and built.needed(self._declared().names.get(name, name), value, {}):
            return True
        known = {*self._declared().keys, *self._values}
        other = any(word in key for key in known for word in _OTHER_MIXERS)
        if name in _HEADS:
            return not other and (self._divides_by_none(name) if value == 0 else self._has_negative_width())
        if value == 0:
            return False
        if name == "intermediate_size":  # layers may all have experts of another size
            return not any("expert" in key for key in known)
        main = name == "hidden_size" or (name == "vocab_size" and self._path in ("", "text_config."))
        return main and self.given("num_hidden_layers")

    def _built_values(self) -> BuiltValues | None:
        """What the reference builds of values of this type's keys; None where that is not recorded."""
        return built_values(self.kind, version()) if isinstance(self.kind, str) else None

    def _bears_on_nothing(self, name: Str, value: Int) -> Bool:
        """Whether a model is built with a size below 1, and has the tensors that it has with another."""
        built = self._built_values()
        return built is not None and built.bears_on_nothing(self._declared().names.get(name, name), value)

    def _divides_by_none(self, name: Str) -> Bool:
        """Whether something is divided by this number of heads, be it only to check it."""
        accepted = accepted_values(self.kind) if isinstance(self.kind, str) else None
        checked = name in [part for _, part in (accepted.divided if accepted else ())]
        sized = self.given("head_dim")
        return checked or (sized if name == _HEADS[1] else name == _HEADS[0] and not sized)

    def _has_negative_width(self) -> Bool:
        """Whether the heads as they are given have a negative width together: one of the three sizes is below 0."""
        sizes = [self.value(name) for name in _HEADS]
        return all(type(size) is int for size in sizes) and sum(size < 0 for size in sizes) == 1

    def _note_truth(self, name: Str, value: Any) -> None:
        """HF123: whatever has a value or an entry counts as true, as in Python."""
        taken = "true" if value else "false"
        library = (
            f"diffusers {'.'.join(diffusers_version().split('.')[:2])}"
            if self._is_of_diffusers
            else f"transformers {version()}"
        )
        text = f"{name} is {shown(value)}, neither true nor false: {library} takes it for {taken}."
        values = {"fix": f"Write {taken} if that is meant.", "expected": taken, "observed": plain(value)}
        self._note(self.malformed(text, name, "HF123", **values, built=True))

    @property
    def _is_of_diffusers(self) -> Bool:
        return isinstance(self.kind, str) and is_of_diffusers(self.kind)

    def _takes_anything(self, name: Str) -> Bool:
        """Whether the reference has this type, and declares no type of the key: then what is not empty is true."""
        if self._is_of_diffusers:  # which declares no types at all
            return True
        accepted = accepted_values(self.kind) if isinstance(self.kind, str) else None
        return accepted is not None and name not in accepted.types

    def _is_refused(self, name: Str, value: Any) -> Bool:
        """Whether the reference has this type, and its class refuses a value of a key."""
        accepted = accepted_values(self.kind) if isinstance(self.kind, str) else None
        types = accepted.types.get(name) if accepted else None
        return types is not None and not fits(value, types)

    def _as_taken(self, name: Str, value: Any, needed: Str, *types: type, observed: Str | None = None) -> Any:
        """What stands for a value of another type, where an older version of transformers takes that; else HF001."""
        from hfcount.mapper.taken_values import as_taken  # few configs have one

        if (taken := as_taken(self.kind, name, value, types)) is None:
            raise self._misfit(name, value, needed, "HF001", observed)
        return taken

    def _list(self, names: Iterable[Str], kind: type[T], noun: Str) -> list[T]:
        value, name = self._find(tuple(names), UNSAID)
        if name is None:
            return []
        if not isinstance(value, list) or any(type(item) is not kind for item in value):
            observed = "a list of other things" if isinstance(value, list) else shown(value)
            value = self._as_taken(name, value, f"a list of {noun}", list, observed=observed)
        return cast("list[T]", value)
