"""Models of diffusers: a config that names its class in `_class_name`, and files called diffusion_pytorch_model.

Source: diffusers 0.42.1 (configuration_utils.py, models/modeling_utils.py).
"""

from collections.abc import Mapping
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.mapper import Config


def config(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The config with the class as its model_type, or beside it where that is an argument of the class.

    Other keys that begin with `_` are the library's own.
    """
    del where  # nothing is refused here
    key = "_class_name" if values.get("model_type") else "model_type"
    return {**{name: value for name, value in values.items() if name[:1] != "_"}, key: values["_class_name"]}


def built(config: Config) -> Blueprint:
    """The blueprint; raises as `hfcount.blueprints.build.build` does."""
    return build(config)
