"""Gemma 3n's audio tower, a conformer: convolutions over the spectrogram, then layers (arXiv:2303.01037)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import layer_norm, rms_norm, stack
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.nodes import Block, Linear, Node, Tensor, block

MODEL_TYPES = ("gemma3n_audio",)  # transformers 5.23: modeling_gemma3n.py
IGNORED = (
    "conf_attention_chunk_size",
    "conf_attention_context_left",
    "conf_attention_context_right",
    "conf_reduction_factor",
    "vocab_offset",
    "vocab_size",
)


def spec(c: Config) -> Spec:
    d, channels = c.int("hidden_size"), c.ints("sscp_conv_channel_size", default=(128, 32))
    kernels, strides = _pairs(c, "sscp_conv_kernel_size", 3), _pairs(c, "sscp_conv_stride_size", 2)
    bands = c.int("input_feat_size")
    if len(channels) != 2:
        raise c.error("sscp_conv_channel_size must have 2 entries.", "sscp_conv_channel_size")
    traits: dict[str, int] = {}
    for number, ((height, width), (_, stride)) in enumerate(zip(kernels, strides, strict=True)):
        bands = keys.sized("b", (bands + 2 - width) // stride + 1)
        traits[f"channels.{number}"] = keys.sized(f"C{number + 1}", channels[number])
        traits[f"height.{number}"] = keys.sized(f"w_h{number + 1}", height)
        traits[f"width.{number}"] = keys.sized(f"w_w{number + 1}", width)
    traits |= {"bands": bands, "kernel": keys.sized("w", c.int("conf_conv_kernel_size"))}
    mixer = keys.multi_head(c, d, c.int("conf_num_attention_heads"), bias=False, uneven="built")
    layer = Layer(mixer=mixer, ffn=Dense(width=4 * d))
    layers = keys.alike(layer, c.int("conf_num_hidden_layers", maximum=MAX_LAYERS))
    return keys.encoding(c, layers, hidden=d, traits=traits)


def _pairs(c: Config, key: str, usual: int) -> list[list[int]]:
    found = c.entries(key) or [[usual, usual]] * 2
    good = [
        isinstance(pair, list) and len(pair) == 2 and all(type(one) is int and one > 0 for one in pair)
        for pair in found
    ]
    if len(found) != 2 or not all(good):
        raise c.error(f"{key} must have 2 entries of 2 sizes each.", key)
    return found


def blueprint(s: Spec) -> Block:
    d, of, norm = s.hidden, s.traits, rms_norm(s.hidden)

    def layer(one: Layer) -> Block:
        width, inner = one.dense.width, one.attention.heads * one.attention.head_dim
        two = {"ffw_layer_1": Linear(d, width), "ffw_layer_2": Linear(width, d)}
        network = Block({"pre_layer_norm": norm, **two, "post_layer_norm": norm}, "mlp")
        into = Linear(d, inner)
        attention = block(
            per_dim_scale=Tensor((one.attention.head_dim,)),
            relative_position_embedding=block(pos_proj=into),
            q_proj=into,
            k_proj=into,
            v_proj=into,
        )
        convolution = block(
            pre_layer_norm=norm,
            linear_start=Linear(d, 2 * d),
            depthwise_conv1d=block(weight=Tensor((d, 1, of["kernel"]))),
            conv_norm=norm,
            linear_end=Linear(d, d),
        )
        return block(
            ffw_layer_start=network,
            attention=block("attention", pre_attn_norm=norm, attn=attention, post=Linear(d, d), post_norm=norm),
            lconv1d=convolution,
            ffw_layer_end=network,
            norm=norm,
        )

    sampling: dict[str, Node] = {}
    before = 1
    for number in range(2):
        wide = of[f"channels.{number}"]
        weight = Tensor((wide, before, of[f"height.{number}"], of[f"width.{number}"]))
        sampling[f"conv_{number}"] = block(conv=block(weight=weight), norm=layer_norm(wide, bias=False))
        before = wide
    sampling["input_proj_linear"] = Linear(before * of["bands"], d)
    return block(subsample_conv_projection=Block(sampling, "embedding"), conformer=stack(s.layers, layer))
