"""Says where versions of transformers change weights that are stored whenever they load them."""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.mapper.class_defaults import declared
from hfcount.verifier.loaders.loader import Difference

_KEY, _COUNT = "rescale_prenorm_residual", "num_hidden_layers"
_TYPES = frozenset({"mamba", "mamba2", "falcon_mamba"})
"""Types whose weights version 5 rescales where it fills others, be they loaded or not (modeling_mamba.py; 4.57.1,
5.23.0 and 5.24.0, by loading them). Nemotron-H, which has the key, too, looks whether they are loaded."""


def differences(version: str, values: Mapping[str, Any], kind: str, at: str) -> Iterator[Difference]:
    """What a version makes of a config, or of one nested in it, whose path begins with `at`."""
    layers = values.get(_COUNT, declared(kind).keys.get(_COUNT)) if kind in _TYPES else None
    if values.get(_KEY) is True and layers not in (None, 1) and version.startswith("5."):
        says = f"divides out_proj.weight of each layer by the square root of {at}{_COUNT} whenever it loads it"
        yield "differs", f"{says}: {at}{_KEY} is true", ()
