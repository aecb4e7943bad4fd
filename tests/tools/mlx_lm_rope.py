"""Asks mlx-lm where it reads the settings of rotary positions: in the object of version 5, in flat keys, or nowhere."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import mlx_lm_runs as runs

from hfcount.verifier.loaders.mlx_lm.rope import written_flat

if TYPE_CHECKING:
    from mlx_lm_probes import Probe

Json = dict[str, Any]

FORMS = ("params", "flat", "old", "both", "none")
"""Ways to write them: rope_parameters; rope_theta and rope_scaling; those with `type`; both; and not at all."""

_THETA = 12_345.0
_LOCAL = 4_321.0
_FURTHER: Mapping[str, Json] = {
    "default": {},
    "partial": {},
    "linear": {"factor": 4.0},
    "dynamic": {"factor": 4.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 64},
    "llama3": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    },
}
_KEYS = ("rope_parameters", "rope_theta", "rope_scaling", "partial_rotary_factor", "rope_local_base_freq")


def flat(config: Json) -> Json:
    """A config with the flat keys of version 4 beside rope_parameters."""
    found = {
        key: flat(value) if isinstance(value, dict) and key == "text_config" else value for key, value in config.items()
    }
    settings = found.get("rope_parameters")
    return {**found, **written_flat(settings, "rope_type")} if isinstance(settings, dict) and settings else found


class Rope:
    """The settings of a checkpoint's rotary positions."""

    def __init__(self, probe: "Probe") -> None:
        self._probe = probe
        self._part = probe.part(probe.base)
        settings = self._part.get("rope_parameters")
        self._usual: Json = settings if isinstance(settings, dict) else {}
        if not self._usual and "rope_theta" in self._part:
            self._usual = {"rope_type": "default", "rope_theta": self._part["rope_theta"]}
            if "partial_rotary_factor" in self._part:
                self._usual["partial_rotary_factor"] = self._part["partial_rotary_factor"]
        self._nested = "full_attention" in self._usual

    def read(self) -> Json:
        """By form and kind: an error; the base that is taken whatever is said; or `true` for otherwise."""
        if not self._usual:
            return {}
        found: Json = {}
        for form in FORMS:
            for kind in _FURTHER if form != "none" else ("default",):
                told = self._told(form, kind)
                if told is not None:
                    found.setdefault(form, {})[kind] = told
        return {"rope": found} if found else {}

    def _settings(self, kind: str, theta: float = _THETA, local: float = _LOCAL) -> Json:
        inner = self._usual.get("full_attention") if self._nested else self._usual
        base = {key: value for key, value in (inner or {}).items() if key not in ("rope_theta", "rope_type", "type")}
        made = {**base, "rope_theta": theta, "rope_type": "default" if kind == "partial" else kind, **_FURTHER[kind]}
        if kind == "partial":
            made["partial_rotary_factor"] = 0.5 if base.get("partial_rotary_factor") != 0.5 else 0.25
        if not self._nested:
            return made
        rest = {"rope_theta": local, "rope_type": "default"}
        return {
            place: made if place == "full_attention" else {**rest, **_kept(self._usual[place])} for place in self._usual
        }

    def _told(self, form: str, kind: str) -> Any:
        if kind == "partial" and not self._has_partial():
            return None
        settings = self._settings(kind)
        loaded = self._probe.run(self._config(form, settings))
        if loaded.error:
            return loaded.error
        wanted = self._wanted(settings) if form != "none" else self._wanted_absent()
        if wanted is None or runs.alike(wanted, loaded.logits):
            return None
        if loaded.logits is None:
            return True if self._probe.loaded.logits is not None else None
        return (self._share(loaded.logits) if kind == "partial" else self._base(loaded.logits)) or True

    def _has_partial(self) -> bool:
        inner = self._usual.get("full_attention") if self._nested else self._usual
        return isinstance(inner, dict) and "partial_rotary_factor" in inner

    def _share(self, logits: Any) -> float | None:
        """The share of a head that is rotated where another is written; None if that is not found."""
        for share in (1.0, 0.5, 0.25, 0.75, 0.4):
            for theta in self._likely():
                settings = self._settings("partial", theta)
                (settings["full_attention"] if self._nested else settings)["partial_rotary_factor"] = share
                given = self._wanted(settings)
                if given is not None and runs.alike(given, logits):
                    return share
        return None

    def _base(self, logits: Any) -> Any:
        """The base that gives these logits without any scaling; None if none of those that are likely does."""
        for theta in self._likely():
            for local in self._likely() if self._nested else [_LOCAL]:
                given = self._wanted(self._settings("default", theta, local))
                if given is not None and runs.alike(given, logits):
                    return {"full_attention": theta, "sliding_attention": local} if self._nested else theta
        return None

    def _likely(self) -> Iterator[float]:
        args, _ = self._probe.mlx.built(self._config("none", {}))
        first = getattr(args, "rope_theta", None)
        yield from dict.fromkeys(
            value for value in (first, 10_000.0, 1_000_000.0, 500_000.0, _THETA) if isinstance(value, int | float)
        )

    def _wanted(self, settings: Json) -> Any:
        """The logits of a model with these settings."""
        if self._probe.torch is not None and self._probe.like:
            return self._probe.torch.logits(self._config("params", settings))
        return self._probe.run(self._config("both", settings)).logits

    def _wanted_absent(self) -> Any:
        if self._probe.torch is None or not self._probe.like:
            return None
        return self._probe.torch.logits(self._config("none", {}))

    def _config(self, form: str, settings: Json) -> Json:
        config = deepcopy(self._probe.base)
        part = self._probe.part(config)
        for key in _KEYS:
            if key not in self._probe.needs or form == "params":
                part.pop(key, None)
        part["max_position_embeddings"] = 256
        if form in ("params", "both"):
            part["rope_parameters"] = settings
        if form in ("flat", "old", "both"):
            part |= written_flat(settings, "type" if form == "old" else "rope_type")
        return config


def _kept(inner: Any) -> Json:
    return {key: inner[key] for key in ("partial_rotary_factor",) if isinstance(inner, dict) and key in inner}
