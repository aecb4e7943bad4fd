"""Phi-4-multimodal's audio tower, a conformer with learned distances (arXiv:2503.01743, arXiv:2005.08100)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import embedding, fused_swiglu, layer_norm, stack
from hfcount.parts.classic import mha
from hfcount.parts.temporal import conv
from hfcount.parts.vision import convolution
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Node, Tensor, block, buffer

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
    d, of, channels = s.hidden, s.traits, s.traits["nemo_conv_channels"]
    heads, wide = s.layers[0].layer.attention.heads, of["ext_pw_out_channel"]

    def layer(one: Layer) -> Block:
        norm, switch = layer_norm(d), Tensor((1, wide, 1))
        network = Block({"layer_norm": norm, **fused_swiglu(d, one.dense.width, True).children}, "mlp")
        deep = conv(1, of["deep"], of["kernel_size"])
        mixed = block(
            layer_norm=norm,
            glu=block(b1=switch, b2=switch, ext_pw_conv_1d=conv(d, 2 * wide, 1)),
            dw_sep_conv_1d=block(dw_conv=deep, pw_conv=conv(of["deep"], of["separable"], 1)),
            ext_pw_conv_1d=conv(d, wide, 1),
        )
        attention = mha(d, one.attention, "o_proj")
        networks = {"feed_forward_in": network, "feed_forward_out": network}
        return block(self_attn=attention, conv=mixed, **networks, layer_norm_att=norm, layer_norm=norm)

    convolutions: dict[str, Node] = {"0": convolution(1, channels, 3)}
    for step in range(1, of["steps"]):  # an activation stands between them
        convolutions[str(3 * step - 1)] = convolution(1, channels, 3)
        convolutions[str(3 * step)] = convolution(channels, channels, 1)
    embed = block("embedding", conv=Block(convolutions), out=Linear(channels * of["bands"], d, True))
    scale = buffer(of["input_size"])
    return block(
        encoder_embedding=block("norm", global_mean=scale, global_invstd=scale),
        embed=embed,
        relative_attention_bias_layer=block(bias_values=embedding(of["buckets"], heads)),
        encoders=stack(s.layers, layer),
    )
