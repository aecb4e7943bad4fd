"""Gives what undoing a quantisation makes of tensors whose values decide shapes.

Source: conversion/base.py (dequant_packed) of llama-cpp-python 0.3.36; compressed-tensors writes the shapes.
"""

from collections.abc import Mapping
from typing import Any

from hfcount.verifier.loaders.llama_cpp.converter.objects import Instance
from hfcount.verifier.loaders.llama_cpp.converter.tensors import Tensor

_SHAPE, _PACKED, _SCALE = "weight_shape", "weight_packed", "weight_scale"


class Known(Tensor):
    """A tensor whose values are known.

    Args:
        values: of its one dimension.
    """

    __slots__ = ("values",)

    def __init__(self, values: list[int]) -> None:
        super().__init__([len(values)], "int64")
        self.values = values

    def attribute(self, name: str) -> Any:
        """An attribute; its values, too."""
        return (lambda: list(self.values)) if name == "tolist" else super().attribute(name)


def know_shapes(owner: Instance) -> None:
    """Gives the tensors that store shapes of packed weights the values that those have."""
    tensors: dict[str, Any] = owner.get("model_tensors")
    size = _group_size(owner.get("hparams").get("quantization_config"))
    for name in [name for name in tensors if name.endswith(_SHAPE)]:
        base = name.removesuffix(_SHAPE)
        packed, scale = tensors.get(f"{base}{_PACKED}"), tensors.get(f"{base}{_SCALE}")
        if packed is not None and scale is not None and size:
            shape = [packed().shape[0], scale().shape[-1] * size]
            tensors[name] = _maker(shape)


def _maker(shape: list[int]) -> Any:
    return lambda: Known(shape)


def _group_size(settings: Any) -> int:
    groups = settings.get("config_groups") if isinstance(settings, Mapping) else None
    for group in groups.values() if isinstance(groups, Mapping) else ():
        weights = group.get("weights") if isinstance(group, Mapping) else None
        size = weights.get("group_size") if isinstance(weights, Mapping) else None
        return size if isinstance(size, int) else 0
    return 0
