"""Configs of the package mamba_ssm, which name neither a type nor a class."""

from collections.abc import Mapping
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.mapper import Config


def config(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The config as the family reads it."""
    del where
    return {**values, "model_type": "mamba_ssm", "architectures": ["MambaLMHeadModel"]}


def built(config: Config) -> Blueprint:
    """The model under the names of the package, which are those of its family."""
    return build(config)
