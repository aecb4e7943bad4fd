"""DeepSeekMoE, the first of its kind: fine-grained experts beside shared ones (arXiv:2401.06066)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, network, pre_norm, shared_moe
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("deepseek",)  # modeling_deepseek.py of deepseek-ai/deepseek-moe-16b-base


def spec(c: Config) -> Spec:
    bias, every = c.bool("attention_bias", default=False), Indices.below(keys.layer_count(c))
    mixer = keys.attention(c, bias=bias, indivisible="refused")
    first = c.int("first_k_dense_replace", minimum=0, maximum=MAX_LAYERS)
    step = c.int("moe_layer_freq", default=1, minimum=1, maximum=MAX_LAYERS)
    routed = Indices.span(round_up(first, step), every.count, step)

    def experts() -> MoE:
        return keys.moe(c, "moe_intermediate_size", experts=("n_routed_experts",), shared=("n_shared_experts",))

    return keys.decoder_spec(c, keys.networks(c, (every.difference(routed), routed), experts, mixer))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network(d, layer, lambda m: shared_moe(d, m)))

    return decoder(s, layer_block)
