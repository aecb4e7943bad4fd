"""Looks up how mlx-lm reads checkpoints of a type, as tests/tools/mlx_lm_facts.py recorded it."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hfcount.mapper import json_lines
from hfcount.record import Record
from hfcount.verifier.loaders import recorded

LIBRARY = "mlx-lm"


class Facts(Record):
    """How mlx-lm reads checkpoints of a type; keys are full paths.

    Args:
        module: the file of mlx_lm/models that reads it.
        lacks: the error of importing that where mlx-lm alone is installed; empty if there is none.
        needs: keys without which a config is refused.
        sizes: what is taken where a key is absent, so that other weights do not fit: a number, another key, or both
            keys of a quotient; None if that is not known.
        above: sizes of the language model that are read at the top level alone, with their defaults.
        absent: what is taken where a key is absent, and what transformers takes there.
        ignores: keys that are not read, with what is taken in their place, and the default of transformers.
        refuses: keys with the error and the values, or words of a list, that are refused; None is for absent, too.
        rope: by the form and the kind of rotary settings what is not read as transformers reads it: an error, the base
            that is taken, or True.
        heads: by what config says of ties what becomes of a model without a head, and with one.
        tied_by: where ties are read, if a config has another for the language model.
        drops: names, numbers as {}, that are left out; `layers.+` is a layer beyond the last.
        disturbs: those of them that change what is computed.
        unexpected, wants: names as transformers saves them that are refused, and those that are wanted in their place.
        divides: the error where a head is not as wide as the heads divide the hidden size; empty if it may be.
        converts: methods of quantisation whose tensors it converts.
        patterned: whether sliding_window_pattern says which layers have a window.
        unlike: how far its logits are from those of transformers whatever the config says, in standard deviations.
        unknown: what was not found out, and why.
    """

    module: str
    lacks: str = ""
    needs: tuple[str, ...] = ()
    sizes: Mapping[str, Any] = {}
    above: Mapping[str, int] = {}
    absent: Mapping[str, list[Any]] = {}
    ignores: Mapping[str, list[Any]] = {}
    refuses: Mapping[str, list[Any]] = {}
    rope: Mapping[str, Mapping[str, Any]] = {}
    heads: Mapping[str, list[str]] = {}
    tied_by: str = ""
    drops: tuple[str, ...] = ()
    disturbs: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    divides: str = ""
    converts: tuple[str, ...] = ()
    patterned: bool = False
    unlike: float = 0.0
    unknown: str = ""


@lru_cache(256)
def facts(version: str, model_type: str, class_name: str = "") -> Facts | None:
    """How a version reads checkpoints of a type; None if it does not have the type.

    Args:
        version: one that is recorded.
        class_name: the class that the config names, by which some types are told apart.
    """
    file = recorded.file(LIBRARY, version)
    row = json_lines.of_kind(file, f"{model_type} {class_name}") or json_lines.of_kind(file, model_type)
    if row is None:
        return None
    lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
    return Facts(**{key: value for key, value in (row | lists).items() if key in Facts._fields})
