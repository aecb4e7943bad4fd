"""Phi-4-multimodal's audio tower, a conformer with learned distances (arXiv:2503.01743, arXiv:2005.08100)."""

from hfcount import keys
from hfcount.components.conformers import Phi4Conformer, shortened
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Layer, Record, Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("phi4_multimodal_audio",)  # transformers 5.23: modeling_phi4_multimodal.py
IGNORED = ("feature_layer", "left_chunk")


class Phi4MultimodalAudio(Record):
    """What the tower alone has; `downsample_rate` frames become one token of the language model."""

    conformer: Phi4Conformer
    downsample_rate: int


def spec(c: Config) -> Spec[Phi4MultimodalAudio]:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    reduction, bands = c.int("time_reduction"), c.int("input_size")
    steps, left = shortened(c, reduction, bands)
    distances = keys.dim("n_d", c.int("bias_max_distance"))
    conformer = Phi4Conformer(
        input_size=keys.dim("b", bands),
        bands=keys.dim("b_o", left),
        steps=steps,
        nemo_conv_channels=keys.dim("C", c.int("nemo_conv_channels")),
        buckets=distances if c.bool("bias_symmetric") else 2 * distances,
        kernel_size=keys.dim("w", c.int("kernel_size")),
        ext_pw_out_channel=keys.dim("C_g", c.int("ext_pw_out_channel")),
        separable=keys.dim("C_s", c.int("depthwise_separable_out_channel")),
        deep=keys.dim("m_d", c.int("depthwise_multiplier")) * d,
    )
    own = Phi4MultimodalAudio(conformer=conformer, downsample_rate=keys.dim("m_r", c.int("downsample_rate")))
    layer = Layer(mixer=keys.multi_head(c, d, heads, indivisible="built"), ffn=keys.dense(c, bias=True))
    return keys.encoding(c, keys.uniform(layer, c.int("num_blocks", maximum=MAX_LAYERS)), hidden=d).having(own)


def blueprint(s: Spec[Phi4MultimodalAudio]) -> Block:
    return s.own.conformer.tensors(s)
