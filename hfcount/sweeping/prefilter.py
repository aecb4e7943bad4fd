"""Skips repos whose listing already shows that they cannot be verified."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hfcount.checkpoints.forms import held_in
from hfcount.fetcher.interface import top_level
from hfcount.fetcher.layout import BIN_SINGLE, CONFIG, MODEL_INDEX, MODULES, layout_of
from hfcount.fetcher.weights import pickled_names
from hfcount.text import printable

REASONS = ("NoConfig", "NoSafetensors", "GatedRepo", "UnknownArchitecture", "UnmodelledStorage")
"""Reasons to skip a repo."""


def screened(entry: Mapping[str, Any], files: Sequence[str] | None, signed: bool) -> tuple[str, str] | None:
    """Why a repo is skipped, as (word, sentence); None if it is inspected.

    Args:
        entry: the listing's entry, whose `config` is an excerpt.
        files: file names, if listed.
        signed: whether a token is sent, which may open gated repos.
    """
    contained = held_in(files) if files is not None else None
    if contained is None and files is not None and (lacking := _lacking(files)):
        return lacking
    if entry.get("gated") and not signed:
        return "GatedRepo", "it is gated, and there is no token (HF_TOKEN)"
    config = entry.get("config")
    if contained is not None or not isinstance(config, Mapping) or MODULES in (files or ()):
        return None
    model_type, packed = config.get("model_type"), config.get("quantization_config")
    if isinstance(model_type, str) and model_type and model_type not in _types():
        return "UnknownArchitecture", f"hfcount does not know model_type {printable(model_type, 60)}"
    method = packed.get("quant_method") if isinstance(packed, Mapping) else None
    if isinstance(method, str) and method and not _described(method.lower()):
        return "UnmodelledStorage", f"hfcount does not know the quantisation {printable(method, 60)}"
    return None


def _lacking(files: Sequence[str]) -> tuple[str, str] | None:
    """The missing config or weights of a repo, as (word, sentence)."""
    if layout_of(files).config not in files:
        return "NoConfig", f"there is no {CONFIG}"
    if not (_has_safetensors(files) or pickled_names(files)):
        return "NoSafetensors", f"there are no safetensors files, nor {BIN_SINGLE}"
    return None


def _has_safetensors(files: Sequence[str]) -> bool:
    inner = not {MODULES, MODEL_INDEX}.isdisjoint(files)
    return any(name.endswith(".safetensors") for name in (files if inner else top_level(files)))


@cache
def _types() -> frozenset[str]:
    from hfcount.architectures import plugins
    from hfcount.architectures.families import all_types

    return frozenset((*all_types(), *plugins.types()))


@cache
def _described(method: str) -> bool:
    """Whether weights of this quantisation method can be verified."""
    from hfcount.errors import HfcountError
    from hfcount.mapper.quantization_config import Announcement
    from hfcount.quantization.layout import Unmodelled
    from hfcount.quantization.schemes import read

    try:
        read(Announcement(method, method, "quantization_config", CONFIG, {}), None)
    except Unmodelled as unmodelled:
        return bool(str(unmodelled))  # its settings are not known here
    except HfcountError:
        pass
    return True
