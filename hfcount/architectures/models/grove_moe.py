"""GroveMoE: experts in pairs that share a small one, upcycled from Qwen3's (arXiv:2508.07785)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, moe, network, pre_norm, swiglu
from hfcount.architectures.layers.conversions import packed
from hfcount.architectures.layers.ffn import experts
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Tensor

# grovemoe.py of inclusionAI/GroveMoE, for sgl-project/sglang, and conversion/grovemoe.py of ggml-org/llama.cpp, which
# cites modeling_grove_moe.py of inclusionAI/GroveMoE-Inst; the sizes of groups and of small experts stand in its code
MODEL_TYPES = ("grove_moe",)
CLASSES = ("GroveMoeForCausalLM", "GroveMoeModel")
MERGED = packed()

_GROUP, _SMALL = 2, 128


class Grove(Sizes):
    """How wide the experts are that groups share."""

    small: int


def spec(c: Config) -> Spec[Grove]:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True)
    layers = keys.sparse_steps(c, mixer, keys.dense(c), lambda: keys.moe(c, "moe_intermediate_size"))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model")).having(Grove.read(c, small=_SMALL))


def blueprint(s: Spec[Grove]) -> Block:
    d, small = s.hidden, s.own.small

    def sparse(m: MoE) -> Block:
        shared = m.replace(experts=m.experts // _GROUP, active=min(m.active, m.experts // _GROUP), width=small)
        unused = Tensor((m.experts,), "buffer", "optional", component="router")
        return altered(
            moe(d, m, swiglu(d, m.width, component="experts")),
            chunk_experts=experts(shared, swiglu(d, small, component="experts")),
            expert_bias=unused,
        )

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network(d, layer, sparse))

    return decoder(s, layer_block)
