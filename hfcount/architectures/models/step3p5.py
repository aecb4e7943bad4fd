"""Step 3.5's language model: gated attention, more heads where it has windows, balanced experts, predicting layers."""

from hfcount.architectures import keys
from hfcount.architectures.components.step import step_layers, step_windows
from hfcount.architectures.layers import altered, correction_bias, decoder, gqa, pre_norm, rms_norm, stacked, swiglu
from hfcount.architectures.layers.ffn import router
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, block

# transformers 5.23: modeling_step3p7.py
# and vLLM 0.33, whose step3p5.py and step3p5_mtp.py have the names of the release
MODEL_TYPES = ("step3p5",)
PREDICTORS = ("Step3p5MTP",)
IGNORED = ("num_attention_groups", "sink", "use_head_wise_attn_gate", "use_moe", "use_moe_router_bias", "use_qk_norm")


class Step3p5(Sizes):
    gate_per_head: int


def spec(c: Config) -> Spec[Step3p5]:
    layers, further = step_layers(c)
    heads = ("ForCausalLM", "Model")
    sizes = Step3p5.read(c, gate_per_head=keys.gate_per_head(c))
    return keys.decoder_spec(c, layers, heads=heads, windows=step_windows(c), parts=keys.ahead(c, further)).having(
        sizes
    )


def blueprint(s: Spec[Step3p5]) -> Block:
    d = s.hidden
    released = s.place or s.head != "base"  # the base model alone has the names of transformers

    def network(layer: Layer) -> dict[str, Node]:
        if not isinstance(layer.ffn, MoE):
            return {"mlp": swiglu(d, layer.dense.width, layer.dense.bias)}
        m, shared = layer.ffn, swiglu(d, layer.ffn.shared or 0, layer.ffn.bias)
        up, down = stacked(m, m.width, d), stacked(m, d, m.width)
        if released:
            routed = block(
                gate=router(d, m),
                router_bias=correction_bias(m),
                gate_proj=block(weight=up),
                up_proj=block(weight=up),
                down_proj=block(weight=down),
            )
            return {"moe": routed, "share_expert": shared}
        gate = altered(router(d, m), e_score_correction_bias=correction_bias(m))
        packed = block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=down)
        return {"mlp": block(gate=gate, experts=packed, shared_experts=shared)}

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        gate = Linear(d, a.heads if s.own.gate_per_head else a.heads * a.head_dim)
        (name, ffn), *beside = network(layer).items()
        body = pre_norm(d, self_attn=altered(gqa(d, a), g_proj=gate), **{name: ffn})
        body = Block({**body.children, **dict(beside)})
        if not layer.mtp:
            return body
        head = block(norm=rms_norm(d), output=Linear(d, s.vocab, presence="spare"))
        ahead = block(enorm=rms_norm(d), hnorm=rms_norm(d), eh_proj=Linear(2 * d, d))
        return Block({**ahead.children, **body.children, "transformer": block(shared_head=head)}, "mtp")

    return decoder(s, layer_block)
