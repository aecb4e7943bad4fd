"""Names for the parts of a layer."""

from hfcount.spec.components import GQA, LRU, MLA, SSM, DeltaNet, Dense, Lightning, MoE, ShortConv
from hfcount.spec.layers import Layer


def made_of(layer: Layer) -> str:
    """The parts of a layer by name, such as `GQA + MoE`."""
    return " + ".join(map(called, filter(None, (layer.mixer, layer.parallel_mixer, layer.ffn)))) or "layer"


def called(part: object) -> str:
    """The name of a mixer or a feed-forward network."""
    match part:
        case GQA(heads=heads, kv_heads=1) if heads > 1:
            return "MQA"
        case GQA(heads=heads, kv_heads=kv_heads):
            return "MHA" if heads == kv_heads else "GQA"
        case MLA():
            return "MLA"
        case DeltaNet() | LRU() | Lightning():
            return "linear attention"
        case SSM(heads=None) | SSM(step_rank=int()):
            return "Mamba"
        case SSM():
            return "Mamba-2"
        case ShortConv():
            return "convolution"
        case Dense():
            return "MLP"
        case MoE():
            return "MoE"
    return type(part).__name__
