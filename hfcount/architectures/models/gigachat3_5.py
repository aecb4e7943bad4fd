"""GigaChat 3.5: Gated DeltaNet or gated latent attention, norms with gates (card of GigaChat3.5-432B-A28B)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, mla, network, predicting, rms_norm, shared_moe, within
from hfcount.architectures.layers.mixers import gated_delta_net
from hfcount.mapper import Config, Sizes, derived, flag
from hfcount.spec import MLA, DeltaNet, Layer, Layers, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block

# modeling_gigachat3_5.py of ai-sage/GigaChat3.5-432B-A28B-Reasoning, gigachat3_5.py of vllm-project/vllm,
# gigachat35.py of sgl-project/sglang 0.5.23, gigachat35_mtp.py of sgl-project/sglang 0.5.23
MODEL_TYPES = ("gigachat3_5",)
CLASSES = ("GigaChat35ForCausalLM",)
PREDICTORS = ("GigaChat35ForCausalLMNextN",)
IGNORED = ("use_mla_scaling_factor",)

# configs/gigachat3_5.py of vllm-project/vllm, where the released class means the same by absent keys.
_ABSENT = {
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "n_shared_experts": 1,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
    "linear_num_key_heads": 32,
    "linear_num_value_heads": 64,
}
_NORMS = {
    "LlamaRMSNorm": False,
    "RMSNorm": False,
    "ZeroCenteredRMSNorm": False,
    "GatedNorm": True,
    "ZeroCenteredGatedNorm": True,
}
_RANK = 16  # of a norm's gate, whatever the config says
_GATES = ("gated_rmsnorm", "gated_rmsnorm_sigmoid", "gated_rmsnorm_sigmoid_zero_centered", "sigmoid_gate")


class GigaChat35(Sizes):
    """Sizes specific to GigaChat 3.5: where its norms stand, and what is gated."""

    gated_norm: bool = derived(lambda c: _NORMS[c.choice("norm_type", _NORMS, default="ZeroCenteredGatedNorm")])
    normed: str = derived(lambda c: _placed(c))
    gated_attention: bool = flag(absent=True)
    delta_norm: bool = derived(lambda c: c.choice("linear_gating_type", _GATES, default=_GATES[2]) != _GATES[3])
    use_shared_expert_sigmoid: bool = flag(absent=False)


def _placed(c: Config) -> str:
    return "pre" if c.is_null("layernorm_type") else c.choice("layernorm_type", ("pre", "post", "pre_post"), "pre_post")


def spec(c: Config) -> Spec[GigaChat35]:
    c = c.assuming(_ABSENT)
    for key, usual in (("attention_bias", False), ("linear_use_short_conv", True)):
        if c.bool(key, default=usual) is not usual:
            raise c.error("not-described", f"{key} is not {str(usual).lower()}, which no engine knows.", key)
    if c.int("num_krope_heads", default=1) != 1:
        raise c.error("not-described", "num_krope_heads is not 1, which no engine knows.", "num_krope_heads")
    latent = keys.mla(c)
    mixers = _mixers(c, latent)
    networks = keys.networks(c, keys.dense_and_stepped(c), lambda: keys.deepseek_moe(c))
    sparse = c.bool("nextn_is_sparse", default=False)
    further = keys.mtp(c, lambda: Layer(mixer=latent, ffn=keys.deepseek_moe(c) if sparse else keys.dense(c)))
    return keys.decoder_spec(c, keys.combined(mixers, networks), parts=further).having(GigaChat35.read(c))


def _mixers(c: Config, latent: MLA) -> list[Layers]:
    listed = not c.is_null("full_attention_layers") and c.given("full_attention_layers")
    if c.is_null("linear_attention_type"):
        return keys.uniform(Layer(mixer=latent), keys.layer_count(c))
    kinds = keys.kinds(c, "layer_types")
    places = keys.numbered(c, "full_attention_layers") if listed else Indices.below(0)
    if listed and kinds and [place for place, kind in enumerate(kinds) if kind == "full_attention"] != [*places]:
        text = "layer_types and full_attention_layers name different layers, and engines differ in which counts."
        raise c.error("contradiction", text, "full_attention_layers", "Correct one of them.")
    return keys.mixed(c, latent, keys.delta_net(c), [] if listed else kinds, places)


def blueprint(s: Spec[GigaChat35]) -> Block:
    d, of = s.hidden, s.own

    def norm(width: int) -> Block:
        gate = {"gate_up_projection": Linear(width, _RANK), "gate_down_projection": Linear(_RANK, width)}
        return Block({**rms_norm(width).children, **(gate if of.gated_norm else {})}, "norm")

    def attention(layer: Layer) -> Block:
        if isinstance(layer.mixer, DeltaNet):
            linear = gated_delta_net(d, layer.mixer, fused=True)
            return linear if of.delta_norm else altered(linear, norm=None)
        a = layer.latent
        return altered(
            mla(d, a),
            q_a_layernorm=None if a.q_lora_rank is None else norm(a.q_lora_rank),
            kv_a_layernorm=norm(a.kv_lora_rank),
            gate_proj=Linear(d, a.heads * a.value_dim) if of.gated_attention else None,
        )

    def sparse(m: MoE) -> Block:
        gate = Linear(d, 1, component="router") if of.use_shared_expert_sigmoid else None
        return altered(shared_moe(d, m, balanced=True), shared_expert_gate=gate)

    def layer_block(layer: Layer) -> Block:
        before, after = of.normed != "post", of.normed != "pre"
        body = block(
            input_layernorm=norm(d) if before else None,
            self_attn=attention(layer),
            post_self_attn_layernorm=norm(d) if after else None,
            post_attention_layernorm=norm(d) if before else None,
            mlp=network(d, layer, sparse),
            post_feedforward_layernorm=norm(d) if after else None,
        )
        if not layer.mtp:
            return body
        return within(
            altered(predicting(s, layer, body), enorm=norm(d), hnorm=norm(d)), shared_head=block(norm=norm(d))
        )

    return decoder(s, layer_block, norm=norm(d))
