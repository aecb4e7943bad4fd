"""Phi-4-multimodal's audio tower as its release reads and names it (arXiv:2503.01743, arXiv:2005.08100)."""

from hfcount import keys
from hfcount.components.conformers import Phi4Conformer, shortened
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("phi4mm_audio",)  # speech_conformer_encoder.py of microsoft/Phi-4-multimodal-instruct
IGNORED = ("activation_checkpointing", "causal", "cnn_layer_norm", "left_chunk")


def spec(c: Config) -> Spec[Phi4Conformer]:
    d, reduction = c.int("attention_dim", default=256), c.int("time_reduction", default=4)
    bands, channels = c.int("input_size"), c.part("nemo_conv_settings").int("conv_channels", default=256)
    steps, left = shortened(c, reduction, bands)
    bias = c.part("relative_attention_bias_args")
    distances = keys.dim("n_d", bias.int("t5_bias_max_distance", default=1000))
    wide, separable = c.int("ext_pw_out_channel", default=0), c.int("depthwise_seperable_out_channel", default=256)
    usual = (
        c.str("input_layer", default="nemo_conv") == "nemo_conv",
        c.int("ext_pw_kernel_size", default=1) == 1,
        c.int("attention_group_size", default=1) == 1,
        c.bool("bias_in_glu", default=True),
        not c.bool("batch_norm", default=False),
        not c.bool("linear_glu_in_convm", default=False),
        wide == separable == d,
    )
    if not all(usual):
        raise UnknownArchitecture(f"{c.where}: phi4mm's audio tower is described with its usual convolutions alone.")
    seen = c.part("encoder_embedding_config").int("input_size", default=bands)
    own = Phi4Conformer(
        input_size=keys.dim("b", seen),
        bands=keys.dim("b_o", left),
        steps=steps,
        nemo_conv_channels=keys.dim("C", channels),
        buckets=distances if bias.bool("t5_bias_symmetric", default=False) else 2 * distances,
        kernel_size=keys.dim("w", c.int("kernel_size", default=3)),
        ext_pw_out_channel=keys.dim("C_g", wide),
        separable=keys.dim("C_s", separable),
        deep=keys.dim("m_d", c.int("depthwise_multiplier", default=1)) * d,
    )
    mixer = keys.multi_head(c, d, c.int("attention_heads", default=4))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("linear_units", default=2048), bias=True))
    count = c.int("num_blocks", default=6, maximum=MAX_LAYERS)
    return keys.encoding(c, keys.uniform(layer, count), hidden=d).having(own)


def blueprint(s: Spec[Phi4Conformer]) -> Block:
    return s.own.tensors(s, released=True)
