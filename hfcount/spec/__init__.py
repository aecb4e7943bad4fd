"""The one Spec: what a model is, in the literature's terms, whatever its config's keys are called."""

from hfcount.spec.components import (
    GQA,
    LRU,
    MLA,
    MLSTM,
    RWKV,
    SSM,
    DeltaNet,
    Dense,
    FeedForward,
    Frozen,
    Lightning,
    Mixer,
    MoE,
    Patches,
    ShortConv,
)
from hfcount.spec.model import Head, Layer, Layers, Spec, Window

__all__ = [
    "GQA",
    "LRU",
    "MLA",
    "MLSTM",
    "RWKV",
    "SSM",
    "DeltaNet",
    "Dense",
    "FeedForward",
    "Frozen",
    "Head",
    "Layer",
    "Layers",
    "Lightning",
    "Mixer",
    "MoE",
    "Patches",
    "ShortConv",
    "Spec",
    "Window",
]
