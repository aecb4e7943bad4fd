"""EfficientLoFTR: matches two images place by place, by attention to coarse features (arXiv:2403.04765)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.classic import headed, mha
from hfcount.parts.convolution import depthwise
from hfcount.parts.matching import refinement, repvgg
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("efficientloftr",)  # transformers 5.23: modeling_efficientloftr.py
IGNORED = ("stage_in_channels", "kv_aggregation_kernel_size", "q_aggregation_stride", "kv_aggregation_stride",
           "fine_kernel_size", "fine_matching_slice_dim", "coarse_matching_border_removal")  # fmt: skip

_HEADS = keys.named(ForKeypointMatching="keypoint_matching", Model="base")


def spec(c: Config) -> Spec:
    d, features = c.int("hidden_size"), c.ints("out_features", default=(64, 64, 128, 256), least=2, minimum=0)
    if features[-1] != d:
        said = f"hidden_size is {d:,}, and out_features ends in {features[-1]:,}."
        raise c.error(said, "hidden_size", "Correct one of them.", expected=int(features[-1]), observed=int(d))
    own = c.int("intermediate_size", default=None)
    shared = c.assuming({"num_key_value_heads": None})
    mixer = keys.attention(shared, bias=c.bool("attention_bias", default=False), uneven="built")
    layer = Layer(mixer=mixer, ffn=Dense(width=2 * d if own is None else own))
    fine = c.ints("fine_fusion_dims", default=features[:0:-1], least=1, minimum=0)
    traits = {
        **keys.repvgg(c),
        "q_aggregation_kernel_size": keys.sized("w", c.int("q_aggregation_kernel_size")),
        "fine": len(fine),
        **{f"fine.{place}": keys.sized(f"F{place + 1}", width) for place, width in enumerate(fine)},
    }
    layers = keys.alike(layer, c.int("num_attention_layers", minimum=0, maximum=MAX_LAYERS))
    return keys.imaging(c, layers, _HEADS, hidden=d, traits=traits, uncounted=keys.COARSER)


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits

    def layer(one: Layer) -> Block:
        pooled = block("attention", q_aggregation=depthwise(d, of["q_aggregation_kernel_size"]), norm=layer_norm(d))
        network = block(
            "mlp", fc1=Linear(2 * d, one.dense.width), fc2=Linear(one.dense.width, d), layer_norm=layer_norm(d)
        )
        whole = block(aggregation=pooled, attention=mha(d, one.attention, out="o_proj"), mlp=network)
        return block(self_attention=whole, cross_attention=whole)

    body = block(backbone=repvgg(of), local_feature_transformer=block(layers=stack(s.layers, layer)))
    fine = refinement([of[f"fine.{place}"] for place in range(of["fine"])])
    return headed(s, "efficientloftr", body, keypoint_matching=block(refinement_layer=fine))
