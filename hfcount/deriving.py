"""The library that names and shapes are taken from where no family describes a model."""

from collections.abc import Mapping
from typing import Any

from hfcount.choices import DerivedWith
from hfcount.plan import Blueprint


def derived(library: DerivedWith | None, values: Mapping[str, Any], where: str) -> Blueprint:
    """The blueprint of a config as a library builds it; arguments and errors are those of the library's own module."""
    if library == "diffusers":
        from hfcount import derived_diffusers

        return derived_diffusers.derived(values, where)
    from hfcount import derived as derived_transformers

    return derived_transformers.derived(values, where)
