"""What the schedulers of diffusers take, and what its pipelines ask of them (schedulers.json)."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from hfcount.verifier.rules.hf822_scheduler_value_refused import SchedulerValueRefused

_UNUSED = "_use_default_values"
"""Keys in whose place the class takes its defaults (diffusers 0.42.1, configuration_utils.py:491)."""


@cache
def _recorded() -> Mapping[str, Any]:
    values: dict[str, Any] = json.loads(files(__package__).joinpath("schedulers.json").read_bytes())
    return values


def refused_values(
    kind: str, values: Mapping[str, Any], file: str, pipeline: str = ""
) -> Iterator[SchedulerValueRefused]:
    """HF822: the values of a scheduler's config that its class does not take: other words, or other types.

    Args:
        kind: the class; values: of the config, whose path is `file`.
        pipeline: the class of the pipeline, which may compute with some of them.
    """
    recorded = _recorded()
    for key, words in recorded["words"].get(kind, {}).items():
        taken = tuple(words.split())
        if _is_read(key, values) and values[key] not in taken:
            yield SchedulerValueRefused(kind=kind, key=key, value=values[key], taken=taken, file=file)
    for types, keys in recorded["mistyped"].get(kind, {}).items():
        for key in keys.split():
            if _is_read(key, values) and _TYPES.get(type(values[key])) in types.split():
                yield SchedulerValueRefused(kind=kind, key=key, value=values[key], taken=_NUMERIC, file=file)
    if pipeline in recorded["computing"].split() and kind in recorded["bounded"].split():
        for key in _BOUNDS:
            if _is_read(key, values) and type(values[key]) in _TYPES:
                yield SchedulerValueRefused(kind=pipeline, key=key, value=values[key], taken=("a number",), file=file)


def _is_read(key: str, values: Mapping[str, Any]) -> bool:
    """Whether a scheduler reads the value of a key from its config."""
    unused = values.get(_UNUSED)
    if key not in values or (isinstance(unused, list) and key in unused):
        return False
    return not (key.startswith("beta_") and values.get("trained_betas") is not None)


_BOUNDS = ("base_image_seq_len", "max_image_seq_len", "base_shift", "max_shift")
"""What pipelines compute the shift of their timesteps from."""

_NUMERIC = ("a number", "true and false")
_TYPES = {str: "text", list: "list", dict: "object", type(None): "null"}


def needed_of_scheduler(pipeline: str, scheduler: str) -> str:
    """What a pipeline asks of its scheduler that this class lacks, as a sentence goes on; "" if that is nothing."""
    recorded = _recorded()
    if pipeline in recorded["scaling"].split() and scheduler in recorded["unscaled"].split():
        return "scales noise by its init_noise_sigma, which it does not have"
    if pipeline in recorded["shifting"].split() and scheduler in recorded["unshifted"].split():
        return "gives its set_timesteps the shift mu, which it does not take"
    return ""
