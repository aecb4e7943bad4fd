"""OLMo Hybrid: Gated DeltaNet in three of four layers, else OLMo 3's attention (model card of Olmo-Hybrid-7B)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, swiglu
from hfcount.architectures.layers.conversions import CONVOLUTION
from hfcount.architectures.layers.mixers import conv1d
from hfcount.mapper import Config
from hfcount.spec import DeltaNet, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("olmo_hybrid",)  # transformers 5.23: modeling_olmo_hybrid.py
SPELLINGS = {
    r"attention_layer_norm\.": "input_layernorm.",
    r"feedforward_layer_norm\.": "post_attention_layernorm.",
}
MERGED = CONVOLUTION


def spec(c: Config) -> Spec:
    bias, count = c.bool("attention_bias", default=False), keys.layer_count(c)
    full = keys.attention(c, bias=bias, qk_norm="width")
    key_heads = c.int("linear_num_key_heads", default=full.heads)
    key_dim = c.int("linear_key_head_dim", default=int(0.75 * c.int("hidden_size") / key_heads))
    linear = DeltaNet(
        key_heads=key_heads,
        value_heads=c.int("linear_num_value_heads", default=full.heads),
        key_dim=key_dim,
        value_dim=c.int("linear_value_head_dim", default=2 * key_dim),
        kernel=c.int("linear_conv_kernel_dim", default=4),
    )
    fourth = Indices.span(min(3, count - 1), count, 4)
    mixers = keys.mixed(c, full, linear, keys.kinds(c), fourth, "full_attention")
    layers = keys.combined(mixers, keys.uniform(Layer(ffn=keys.dense(c)), count))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        linear = _unfused_delta_net(d, layer.mixer) if isinstance(layer.mixer, DeltaNet) else None
        return block(
            attention_layer_norm=rms_norm(d) if linear else None,
            linear_attn=linear,
            self_attn=None if linear else gqa(d, layer.attention),
            feedforward_layer_norm=rms_norm(d),
            mlp=swiglu(d, layer.dense.width),
            post_feedforward_layernorm=None if linear else rms_norm(d),
        )

    return decoder(s, layer_block)


def _unfused_delta_net(d: int, a: DeltaNet) -> Block:
    """Gated DeltaNet (arXiv:2412.06464) with separate projections.

    Tensors, with q = l_k·l_dk and v = l_v·l_dv: q_proj and k_proj (q, d), v_proj and g_proj (v, d), a_proj and b_proj
    (l_v, d), A_log and dt_bias (l_v), o_norm (l_dv), o_proj (d, v). The convolution of all 2·q + v channels is stored
    in three equal parts, the last of which may be smaller: q_conv1d, k_conv1d, v_conv1d.
    """
    keys, values = a.key_heads * a.key_dim, a.value_heads * a.value_dim
    mixed = 2 * keys + values
    third = (mixed + 2) // 3
    return block(
        "linear_attention",
        q_proj=Linear(d, keys),
        k_proj=Linear(d, keys),
        v_proj=Linear(d, values),
        a_proj=Linear(d, a.value_heads),
        b_proj=Linear(d, a.value_heads),
        g_proj=Linear(d, values),
        q_conv1d=conv1d(third, a.kernel),
        k_conv1d=conv1d(third, a.kernel),
        v_conv1d=conv1d(mixed - 2 * third, a.kernel),
        A_log=Tensor((a.value_heads,)),
        dt_bias=Tensor((a.value_heads,)),
        o_norm=rms_norm(a.value_dim),
        o_proj=Linear(values, d),
    )
