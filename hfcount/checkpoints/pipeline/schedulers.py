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


def refused_values(kind: str, values: Mapping[str, Any], file: str) -> Iterator[SchedulerValueRefused]:
    """HF822: the values of a scheduler's config that are none of the words that its class takes for the key.

    Args:
        kind: the class; values: of the config, whose path is `file`.
    """
    unused = values.get(_UNUSED)
    for key, words in _recorded()["words"].get(kind, {}).items():
        if key not in values or (isinstance(unused, list) and key in unused):
            continue
        if key == "beta_schedule" and values.get("trained_betas") is not None:
            continue  # then it is not read
        taken, value = tuple(words.split()), values[key]
        if value not in taken:
            yield SchedulerValueRefused(kind=kind, key=key, value=value, taken=taken, file=file)


def needed_of_scheduler(pipeline: str, scheduler: str) -> str:
    """What a pipeline asks of its scheduler that this class lacks, as a sentence goes on; "" if that is nothing."""
    recorded = _recorded()
    if pipeline in recorded["scaling"].split() and scheduler in recorded["unscaled"].split():
        return "scales noise by its init_noise_sigma, which it does not have"
    if pipeline in recorded["shifting"].split() and scheduler in recorded["unshifted"].split():
        return "gives its set_timesteps the shift mu, which it does not take"
    return ""
