"""DeepSeek-V4: several residual streams, attention to compressed tokens, experts chosen by hash in the first layers."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import rms_norm, stack
from hfcount.parts.conversions import DEEPSEEK_V4, W_EXPERTS
from hfcount.parts.streams import compressed, hash_moe, mixer, streamed
from hfcount.spec import GQA, Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("deepseek_v4", "deepseek_ref")  # transformers 5.23: modeling_deepseek_v4.py
IGNORED = ("compress_rope_theta", "hc_sinkhorn_iters", "index_topk")
SPELLINGS = DEEPSEEK_V4
MERGED = W_EXPERTS


def spec(c: Config) -> Spec:
    heads, groups = c.int("num_attention_heads"), c.int("o_groups")
    attention = GQA(heads=heads, kv_heads=1, head_dim=c.int("head_dim"))
    own = {
        name: c.int(name)
        for name in ("hc_mult", "o_lora_rank", "q_lora_rank", "index_n_heads", "index_head_dim", "num_experts_per_tok")
    }
    keys.divides(c, "o_groups", groups, "num_attention_heads · head_dim", heads * attention.head_dim, built=True)
    ffn = keys.moe(c, "moe_intermediate_size", experts=("n_routed_experts", "num_local_experts", "num_experts"))
    networks = keys.hashed(c, ffn.but(shared=ffn.width, bias=c.bool("mlp_bias", default=False)))
    layers = keys.crossed(keys.compressing(c, attention), networks)
    why = "its layers keep tokens compressed, many into one, which is not described"
    traits = {**own, "o_groups": groups}
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), traits=traits, uncounted=why)


def blueprint(s: Spec) -> Block:
    d, several = s.hidden, s.traits["hc_mult"]

    def layer(one: Layer) -> Block:
        return block(
            attn_norm=rms_norm(d),
            attn=compressed(d, one.attention, s.traits, one.traits["rate"], bool(one.traits["overlap"])),
            ffn_norm=rms_norm(d),
            ffn=hash_moe(d, one.moe, s.vocab if one.traits["hash"] else None, s.traits["num_experts_per_tok"]),
            **mixer("hc_attn", d, several),
            **mixer("hc_ffn", d, several),
        )

    return streamed(s, stack(s.layers, layer), several)
