"""The library that names and shapes are taken from where no family describes a model."""

from collections.abc import Mapping
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.options import DerivedWith


def derived(library: DerivedWith | None, values: Mapping[str, Any], where: str) -> Blueprint:
    """The blueprint of a config as a library builds it; arguments and errors are those of the library's own module."""
    if library == "diffusers":
        from hfcount.blueprints import derive_diffusers

        return derive_diffusers.derived(values, where)
    from hfcount.blueprints import derive_transformers as derived_transformers

    return derived_transformers.derived(values, where)
