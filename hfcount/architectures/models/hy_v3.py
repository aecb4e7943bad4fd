"""Hunyuan 3: normalised queries and keys, balanced experts beside shared ones (Hy3 model card)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import (
    correction_bias,
    decoder,
    drafting,
    experts,
    gqa,
    network,
    pre_norm,
    router,
    swiglu,
)
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

# transformers 5.23: modeling_hy_v3.py
# and, for the layers that predict further tokens, hy_v3_mtp.py of vllm-project/vllm 0.33
MODEL_TYPES = ("hy_v3",)
PREDICTORS = ("HYV3MTPModel", "HYV3ForCausalLMNextN")
SPELLINGS = {
    r"mlp\.router\.gate\.": "mlp.gate.",
    r"mlp\.expert_bias$": "mlp.e_score_correction_bias",
    r"mlp\.shared_mlp\.": "mlp.shared_experts.",
}
MERGED = packed()


def spec(c: Config) -> Spec:
    bias, wide = c.bool("attention_bias", default=False), c.bool("mlp_bias", default=False)
    width = None if c.is_null("head_dim") else 128
    mixer = keys.attention(c, bias=bias, qk_norm=True, head_dim=width)
    places = keys.dense_and_sparse(c, default=1)

    def sparse() -> MoE:
        ffn = keys.moe(c, "moe_intermediate_size", shared=("num_shared_experts",))
        # A shared width of zero falls back to the dense one in the published implementation.
        return ffn.replace(bias=wide, shared=ffn.shared or c.int("intermediate_size"))

    ahead = keys.mtp(c, lambda: Layer(mixer=mixer, ffn=sparse(), first=True, last=True))
    return keys.decoder_spec(c, keys.networks(c, places, sparse, mixer, bias=wide), parts=ahead)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def moe(m: MoE) -> Block:
        return block(
            router=block(gate=router(d, m)),
            expert_bias=correction_bias(m),
            experts=experts(m, swiglu(d, m.width, component="experts")),
            shared_mlp=None if m.shared is None else swiglu(d, m.shared, m.bias),
        )

    def layer_block(layer: Layer) -> Block:
        body = pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network(d, layer, moe))
        return _ahead(s, layer, body) if layer.mtp else body

    return decoder(s, layer_block)


def _ahead(s: Spec, layer: Layer, body: Block) -> Block:
    """A layer that predicts a further token; copies of the model's embedding and head are read by nobody."""
    copy = Tensor((s.vocab, s.hidden), presence="spare")
    tables = {"embed_tokens": block(weight=copy), "shared_head": block(weight=copy, head=block(weight=copy))}
    return Block({**drafting(s.hidden, layer, body).children, **tables}, "mtp")
