"""The Spec: what a model is made of, in the literature's terms, independent of the names of config keys."""

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
from hfcount.spec.record import Record
