"""Klear 46B: Qwen3 with experts that a bias balances, and coefficients that weigh what all tokens share (its card)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, correction_bias, decoder, gqa, network, pre_norm, shared_moe
from hfcount.mapper import Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear

MODEL_TYPES = ("Klear",)  # Klear.py of ml-explore/mlx-lm 0.32.2

_BOTH = 2  # what the experts say, and what the shared one does


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True, derived=True)

    def experts() -> MoE:
        return keys.moe(c, "moe_intermediate_size", experts=("num_experts",), shared=("n_shared_experts",))

    return keys.decoder_spec(c, keys.sparse_steps(c, mixer, keys.dense(c), experts), heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def experts(m: MoE) -> Block:
        weighed = Linear(d, _BOTH, True, component="router")
        return altered(shared_moe(d, m), coefficient=weighed, expert_bias=correction_bias(m))

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network(d, layer, experts))

    return decoder(s, layer_block)
