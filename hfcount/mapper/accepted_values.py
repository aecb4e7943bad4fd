"""The values that transformers' config classes accept (values.json, recorded by tests/tools/values.py)."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.mapper import json_lines

ABSENT: Any = object()
"""Stands for the value of a key that is not there, and has to be."""

Problem = tuple[str, Any, str]
"""A key below a config, what it holds, and what it has to hold; of an absent key, why it is needed."""

Limits = tuple[float | None, float | None, bool, bool]
"""The least and most that a number may be, and whether each of them is itself excluded."""


class AcceptedValues(NamedTuple):
    """The values that one class accepts; empty for a class that transformers does not have.

    Args:
        types: the type of each key, such as `int|list[int]|null`; keys that take anything are left out.
        limits: bounds of numbers.
        rope: whether it has rotary positions of its own.
        activations: keys that name an activation.
        headed: keys that name one of some of the type's classes alone.
        dropouts: keys that hold the share of a dropout.
        fixed: keys that the class alone sets, and that no config may have.
        within: the key of a nested config that the class reads in place of the whole, if it is there.
        replaced: keys of nested configs, by path, in whose place the class sets what it takes from elsewhere.
        kinds: lists of kinds of layers that may hold no others than transformers names.
        rotates: kinds of these beside those of all classes, where its models look up by them how to make them.
        turning: where its models look up rotary positions by the kind of layer, the kinds that it brings entries for:
            where the config gives nothing (`absent`), gives no such entry (`empty`), and `beside` what it gives;
            `asked` are the kinds that are looked up, all if it is not there, and `usual` those of layers by default.
        filled: keys with a list of which its models take entries by their place.
        sides: keys with a number that may be a list of two.
        words: the words that a key may hold, by key.
        alike: keys with lists that are all of one length, which one of them may give as a number.
        divided: keys with a number that has to be divided by that of another key, or by a number.
        counted: keys with lists that need as many entries as there are layers.
        stages: the key that says how many stages there are, which a config may name, and how many there are where it
            holds null; or their number, if no key says it; empty if they have no names.
        stemless: whether no stem comes before them.
        measured: whether its backbones are asked how wide each stage is that the config names.
        needs: expressions over keys that have to hold, beside all of these.
    """

    types: Mapping[str, str] = {}
    limits: Mapping[str, Limits] = {}
    rope: bool = False
    activations: frozenset[str] = frozenset()
    headed: frozenset[str] = frozenset()
    dropouts: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    within: str = ""
    replaced: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    rotates: frozenset[str] = frozenset()
    turning: Mapping[str, frozenset[str]] = {}
    filled: frozenset[str] = frozenset()
    sides: frozenset[str] = frozenset()
    words: Mapping[str, tuple[str, ...]] = {}
    alike: tuple[tuple[str, ...], ...] = ()
    divided: tuple[tuple[str, str], ...] = ()
    counted: frozenset[str] = frozenset()
    stages: str = ""
    stemless: bool = False
    measured: bool = False
    needs: tuple[str, ...] = ()


@lru_cache(64)
def accepted_values(kind: str) -> AcceptedValues | None:
    """The values that the class of a model_type, or of that name, accepts; None if transformers does not have it."""
    row = json_lines.of_kind(_file(), kind)
    if row is None:
        return None
    types = {key: form for form, keys in row.get("types", {}).items() for key in keys.split()}
    limits = {key: (least, most, *out) for key, (least, most, *out) in row.get("limits", {}).items()}
    turning = {name: frozenset(kinds.split()) for name, kinds in row.get("turning", {}).items()}

    def names(of: str) -> frozenset[str]:
        return frozenset(row.get(of, "").split())

    return AcceptedValues(
        types,
        limits,
        rope=row.get("rope", False),
        activations=names("activations"),
        headed=names("headed"),
        dropouts=names("dropouts"),
        fixed=names("fixed"),
        within=row.get("within", ""),
        replaced=names("replaced"),
        kinds=names("kinds"),
        rotates=names("rotates"),
        turning=turning,
        filled=names("filled"),
        sides=names("sides"),
        words={key: tuple(text.split()) for key, text in row.get("words", {}).items()},
        alike=tuple(tuple(text.split()) for text in row.get("alike", ())),
        divided=tuple((dividend, part) for dividend, part in map(str.split, row.get("divided", ()))),
        counted=names("counted"),
        stages=row.get("stages", ""),
        stemless=row.get("stemless", False),
        measured=row.get("measured", False),
        needs=tuple(row.get("needs", ())),
    )


def shared(name: str) -> tuple[str, ...]:
    """Words that all classes share, such as the `activations` that there are."""
    return tuple(_shared()[name].split())


@cache
def renamed() -> Mapping[str, str]:
    """Kinds of layers that transformers takes for others: the later name by the earlier one."""
    return dict(pair.split(":", 1) for pair in shared("renamed"))


@cache
def _shared() -> Mapping[str, str]:
    words: Mapping[str, str] = json_lines.of_all(_file())
    return words


@cache
def _file() -> bytes:
    return (Path(__file__).parent / "values.json").read_bytes()
