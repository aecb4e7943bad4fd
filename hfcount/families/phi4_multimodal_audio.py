"""Phi-4-multimodal's audio tower, a conformer with learned distances (arXiv:2503.01743, arXiv:2005.08100)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts.conformer import phi4_conformer
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("phi4_multimodal_audio",)  # transformers 5.23: modeling_phi4_multimodal.py
IGNORED = ("feature_layer", "left_chunk")


def spec(c: Config) -> Spec:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    reduction, bands = c.int("time_reduction"), c.int("input_size")
    if reduction % 2:
        raise c.error(f"time_reduction is {reduction:,}, and must be even.", "time_reduction", observed=int(reduction))
    steps, left = int(reduction).bit_length() - 1, bands
    for _ in range(steps):  # each convolution halves the bands, rounded up
        left = (left + 1) // 2
    distances = keys.sized("n_d", c.int("bias_max_distance"))
    traits = {
        "input_size": keys.sized("b", bands),
        "bands": keys.sized("b_o", left),
        "steps": steps,
        "nemo_conv_channels": keys.sized("C", c.int("nemo_conv_channels")),
        "buckets": distances if c.bool("bias_symmetric") else 2 * distances,
        "kernel_size": keys.sized("w", c.int("kernel_size")),
        "ext_pw_out_channel": keys.sized("C_g", c.int("ext_pw_out_channel")),
        "separable": keys.sized("C_s", c.int("depthwise_separable_out_channel")),
        "deep": keys.sized("m_d", c.int("depthwise_multiplier")) * d,
        "downsample_rate": keys.sized("m_r", c.int("downsample_rate")),
    }
    layer = Layer(mixer=keys.multi_head(c, d, heads, uneven="built"), ffn=keys.dense(c, bias=True))
    return keys.encoding(c, keys.alike(layer, c.int("num_blocks", maximum=MAX_LAYERS)), hidden=d, traits=traits)


def blueprint(s: Spec) -> Block:
    return phi4_conformer(s)
