"""Snowflake Arctic: a network and experts side by side, both behind norms of their own (card of snowflake-arctic)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, moe, numbered_swiglu, rms_norm
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config, Sizes
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, block

# modeling_arctic.py of Snowflake/snowflake-arctic-base, arctic.py of vllm-project/vllm 0.6
MODEL_TYPES = ("arctic",)
IGNORED = ("moe_eval_capacity_factor", "moe_min_capacity", "moe_token_dropping", "moe_train_capacity_factor")


class Arctic(Sizes):
    """Whether layers with experts have a network beside them, as wide as the layer."""

    beside: bool


def spec(c: Config) -> Spec[Arctic]:
    parallel, other = c.bool("parallel_attn_mlp_res", default=False), c.bool("use_residual", default=None)
    if other is not None and parallel != other:
        text = "parallel_attn_mlp_res, which the code of the release reads, and use_residual, which vLLM reads, differ."
        raise UnknownArchitecture(f"{c.where}: {text}")
    count, mixer = keys.layer_count(c), keys.attention(c, derived=True, indivisible="refused")
    step = c.int("moe_layer_frequency", default=2, minimum=1, maximum=MAX_LAYERS)
    routed = Indices.span(step - 1, count, step)

    def experts() -> MoE:
        return keys.moe(c, "intermediate_size", experts=("num_local_experts",))

    layers = keys.networks(c, (Indices.below(count).difference(routed), routed), experts, mixer)
    read = Arctic.read(c, beside=parallel)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model")).having(read)


def blueprint(s: Spec[Arctic]) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        if not isinstance(layer.ffn, MoE):
            routed, beside = block(mlp=numbered_swiglu(d, layer.dense.width)), False
        else:
            routed, beside = moe(d, layer.ffn, numbered_swiglu(d, layer.ffn.width, "experts")), s.own.beside
        return block(
            input_layernorm=norm,
            self_attn=gqa(d, layer.attention),
            post_attention_layernorm=norm,
            block_sparse_moe=routed,
            residual_layernorm=norm if beside else None,
            residual_mlp=numbered_swiglu(d, d) if beside else None,
        )

    return decoder(s, layer_block)
