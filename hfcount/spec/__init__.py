"""Holds the Spec, which says what a model is in the field's terms, and the tree of its tensors.

Work here on the terms in which models are described.
"""

# fmt: off
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
from hfcount.spec.layers import Entries, Lacking, Layer, Layers, Window
from hfcount.spec.model import Head, Spec
from hfcount.record import Record
