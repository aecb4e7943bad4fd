"""Step 3's language model: queries of all heads made of one narrow one, balanced experts (arXiv:2507.19427)."""

import re

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, rms_norm, stacked, swiglu
from hfcount.architectures.layers.ffn import router
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import GQA, Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("step3_text",)  # step3_text.py of vllm-project/vllm 0.33.0
IGNORED = ("norm_expert_weight", "num_attention_groups", "num_key_value_heads")


class Step3Text(Sizes):
    """The width of what queries of all heads are made of."""

    share_q_dim: int = size("d_q")


def spec(c: Config) -> Spec[Step3Text]:
    mixer = GQA(heads=c.int("num_attention_heads"), kv_heads=1, head_dim=c.int("head_dim"))
    count = keys.layer_count(c)
    every, listed = Indices.below(count), c.str("moe_layers_enum", default="")
    routed = Indices.span(1, max(1, count))
    if listed:
        if not re.fullmatch(r" *[0-9]{1,6}( *, *[0-9]{1,6})* *", listed[:100_000]):
            text = "moe_layers_enum must be numbers of layers with commas between."
            raise c.error("unknown-kind", text, "moe_layers_enum")
        numbers = [int(number) for number in listed.split(",")]
        routed = Indices.of(number for number in numbers if number < count)

    def experts() -> MoE:
        m = keys.moe(c, "moe_intermediate_size", experts=("moe_num_experts",), active=("moe_top_k",))
        return m.replace(shared=c.int("share_expert_dim"))

    layers = keys.networks(c, (every.difference(routed), routed), experts, mixer)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model")).having(Step3Text.read(c))


def blueprint(s: Spec[Step3Text]) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def attention(a: GQA) -> Block:
        narrow = s.own.share_q_dim
        return block(
            "attention",
            q_proj=Linear(d, narrow),
            k_proj=Linear(d, a.head_dim),
            v_proj=Linear(d, a.head_dim),
            inter_norm=rms_norm(narrow),
            wq=Linear(narrow, a.heads * a.head_dim),
            o_proj=Linear(a.heads * a.head_dim, d),
        )

    def layer_block(layer: Layer) -> Block:
        body = block(input_layernorm=norm, self_attn=attention(layer.attention), post_attention_layernorm=norm)
        if not isinstance(layer.ffn, MoE):
            return Block({**body.children, "mlp": swiglu(d, layer.dense.width)})
        m = layer.ffn
        up, down = block(weight=stacked(m, m.width, d)), block(weight=stacked(m, d, m.width))
        routed = block(gate=router(d, m), gate_proj=up, up_proj=up, down_proj=down)
        return Block({**body.children, "moe": routed, "share_expert": swiglu(d, m.shared or 0)})

    return decoder(s, layer_block)
