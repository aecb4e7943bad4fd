"""The one Spec: what a model is, in the literature's terms, whatever its config's keys are called."""

# fmt: off
from hfcount.spec.components import (
    GQA, LRU, MLA, MLSTM, RWKV, SSM, DeltaNet, Dense, FeedForward, Frozen, Lightning, Mixer, MoE, Patches, ShortConv,
)
from hfcount.spec.model import Head, Layer, Layers, Spec, Window
