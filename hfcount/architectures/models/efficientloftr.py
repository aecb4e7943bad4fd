"""EfficientLoFTR: matches two images place by place, by attention to coarse features (arXiv:2403.04765)."""

from itertools import pairwise

from hfcount.architectures import keys
from hfcount.architectures.components.repvgg import RepVGG
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import headed, mha
from hfcount.architectures.layers.convolution import batch_norm, conv, depthwise
from hfcount.mapper import MAX_LAYERS, Config, Sizes, part, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("efficientloftr",)  # transformers 5.23: modeling_efficientloftr.py
IGNORED = ("stage_in_channels", "kv_aggregation_kernel_size", "q_aggregation_stride", "kv_aggregation_stride",
           "fine_kernel_size", "fine_matching_slice_dim", "coarse_matching_border_removal")  # fmt: skip

_HEADS = keys.named(ForKeypointMatching="keypoint_matching", Model="base")


class EfficientLoftr(Sizes):
    """Sizes specific to EfficientLoFTR; `fine` are the widths through which features are joined from coarse to fine."""

    backbone: RepVGG = part(RepVGG)
    q_aggregation_kernel_size: int = size("w")
    fine: tuple[int, ...]


def spec(c: Config) -> Spec[EfficientLoftr]:
    d, features = c.int("hidden_size"), c.ints("out_features", default=(64, 64, 128, 256), least=2, minimum=0)
    if features[-1] != d:
        text = f"hidden_size is {d:,}, and out_features ends in {features[-1]:,}."
        raise c.error(
            "contradiction", text, "hidden_size", "Correct one of them.", expected=int(features[-1]), observed=int(d)
        )
    width = c.int("intermediate_size", default=None)
    shared = c.assuming({"num_key_value_heads": None})
    mixer = keys.attention(shared, bias=c.bool("attention_bias", default=False), indivisible="built")
    layer = Layer(mixer=mixer, ffn=Dense(width=2 * d if width is None else width))
    fine = c.ints("fine_fusion_dims", default=features[:0:-1], least=1, minimum=0)
    sizes = EfficientLoftr.read(c, fine=tuple(keys.dim(f"F{place}", width) for place, width in enumerate(fine, 1)))
    layers = keys.uniform(layer, c.int("num_attention_layers", minimum=0, maximum=MAX_LAYERS))
    return keys.imaging(c, layers, _HEADS, hidden=d, uncounted=keys.COARSER).having(sizes)


def blueprint(s: Spec[EfficientLoftr]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        pooled = block("attention", q_aggregation=depthwise(d, of.q_aggregation_kernel_size), norm=layer_norm(d))
        network = block(
            "mlp", fc1=Linear(2 * d, layer.dense.width), fc2=Linear(layer.dense.width, d), layer_norm=layer_norm(d)
        )
        body = block(aggregation=pooled, attention=mha(d, layer.attention, out="o_proj"), mlp=network)
        return block(self_attention=body, cross_attention=body)

    body = block(backbone=of.backbone.tensors(), local_feature_transformer=block(layers=stack(s.layers, layer_block)))
    return headed(s, "efficientloftr", body, keypoint_matching=block(refinement_layer=_refinement(of.fine)))


def _refinement(widths: tuple[int, ...]) -> Block:
    """Features joined from coarse to fine, through these widths."""

    def finer(out: int, into: int) -> Block:
        return block(
            out_conv1=conv(into, out, 1),
            out_conv2=conv(out, out, 3),
            batch_norm=batch_norm(out),
            out_conv3=conv(out, into, 3),
        )

    steps = {str(place): finer(*sides) for place, sides in enumerate(pairwise(widths))}
    return block(out_conv=conv(widths[0], widths[0], 1), out_conv_layers=Block(steps))
