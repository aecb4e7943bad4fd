"""Reads values of another type than their key has, which the newest transformers refuses and an older version takes."""

from typing import Any

from hfcount.mapper.built_values import taken_by_older
from hfcount.mapper.class_defaults import declared
from hfcount.mapper.refusals import is_refused_by_type
from hfcount.mapper.untyped import shape_of
from hfcount.text import is_numeral


def as_taken(kind: Any, name: str, value: Any, types: tuple[type, ...]) -> Any:
    """What stands for a value, so that the model that an older version builds is known; None if none does.

    That the newest refuses the value is told of each such key (HF110).

    Args:
        kind: the model_type of the config that has the key.
        types: those that the key has.
    """
    if not isinstance(kind, str) or not is_refused_by_type(kind, name, value):
        return None
    known = declared(kind)
    key = known.names.get(name, name)
    if not taken_by_older(kind, key, shape_of(value)):
        return None
    if type(same := _plain(value)) in types:
        return same
    usual = known.keys.get(key)  # the record says that the model has the same tensors with either
    return usual if type(usual) in types else None


def _plain(value: Any) -> Any:
    """A number that is written otherwise: with a decimal point, in quotes, or in a list that has nothing else."""
    if isinstance(value, list) and value and all(item == value[0] for item in value):
        return _plain(value[0])
    if isinstance(value, str) and is_numeral(value):
        value = float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value
