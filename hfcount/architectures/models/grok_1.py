"""Grok-1 and Grok-2: experts between four norms, beside them a network for all tokens (xai-org/grok-1)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, moe, numbered_swiglu, rms_norm, swiglu
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

# modeling_grok_1.py of hpcai-tech/grok-1, which grok1.py of vllm-project/vllm 0.11.0 loads; and, where experts are
# counted under num_local_experts, as xai-org/grok-2 does, grok.py of sgl-project/sglang 0.5.23
MODEL_TYPES = ("grok-1", "grok-2")
CLASSES = ("Grok1ModelForCausalLM", "Grok1ForCausalLM")
IGNORED = tuple(
    "attn_logit_softcapping attn_output_multiplier attn_temperature_len context_len embedding_multiplier_scale"
    " final_logit_softcapping global_attn_every_n max_attn_value output_multiplier_scale"
    " rope_rotate_half_dims rope_type router_logit_softcapping scaling_factor sliding_window_size".split()
)


class Grok(Sizes):
    """Whether its names are SGLang's, and the width of the network beside the experts."""

    later: bool
    beside: int | None


def spec(c: Config) -> Spec[Grok]:
    later = c.family == "grok-2" or c.given("num_local_experts")
    mixer = keys.attention(c, head_dim=128) if later else keys.attention(c, derived=True, indivisible="refused")
    width = "moe_intermediate_size" if later and c.given("moe_intermediate_size") else "intermediate_size"
    experts = keys.moe(c, width, experts=("num_local_experts",) if later else ("num_experts",))
    beside = later and c.bool("residual_moe", default=False)
    sizes = Grok.read(c, later=later, beside=keys.dim("d_b", c.int("intermediate_size")) if beside else None)
    model = keys.decoder_spec(c, Layer(mixer=mixer, ffn=experts), heads=("ForCausalLM", "Model"), tied=not later)
    return (model.replace(tied=False) if later else model).having(sizes)  # SGLang ties no head


def blueprint(s: Spec[Grok]) -> Block:
    d, of = s.hidden, s.own

    def network(m: MoE) -> dict[str, Node]:
        if of.later:
            beside = None if of.beside is None else swiglu(d, of.beside)
            routed = moe(d, m, numbered_swiglu(d, m.width, "experts"))
            return {"block_sparse_moe": routed, **({} if beside is None else {"mlp": beside})}
        wide, narrow = Linear(d, m.width), Linear(m.width, d)
        return {"moe_block": moe(d, m, block("experts", linear=wide, linear_v=wide, linear_1=narrow))}

    def layer_block(layer: Layer) -> Block:
        attention = gqa(d, layer.attention)
        norms = ("pre_attn_norm", "post_attn_norm", "pre_moe_norm", "post_moe_norm")
        mixer: dict[str, Node] = {"self_attn" if of.later else "attn": attention}
        return Block({**mixer, **network(layer.moe), **dict.fromkeys(norms, norm)})

    norm = rms_norm(d) if of.later else block("norm", scale=Tensor((d,)))
    return decoder(s, layer_block, norm=norm)
