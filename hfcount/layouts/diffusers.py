"""Models of diffusers: a config that names its class in `_class_name`, and files called diffusion_pytorch_model.

Source: diffusers 0.42.1 (configuration_utils.py, models/modeling_utils.py).
"""

from collections.abc import Mapping
from typing import Any

from hfcount.building import build
from hfcount.mapper import Config
from hfcount.plan import Blueprint


def config(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The config with the class as its model_type; keys that begin with `_` are the library's own."""
    del where  # nothing is refused here
    return {**{key: one for key, one in values.items() if key[:1] != "_"}, "model_type": values["_class_name"]}


def built(config: Config) -> Blueprint:
    """The blueprint; raises as `hfcount.building.build` does."""
    return build(config)
