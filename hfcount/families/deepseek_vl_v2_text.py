"""DeepSeek-VL2's and DeepSeek-OCR's language model: DeepSeek-V2, also with plain attention (arXiv:2412.10302)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, mla, network, pre_norm, shared_moe
from hfcount.spec import MLA, Layer, Sizes, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block

MODEL_TYPES = ("deepseek_vl_v2_text",)  # modeling_deepseek.py of deepseek-ai/DeepSeek-VL2
IGNORED = ("lm_head", "rm_head")

# configuration_deepseek.py of deepseek-ai/DeepSeek-VL2; transformers means others by absent keys.
_ABSENT = {
    "vocab_size": 102400,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "moe_intermediate_size": 1407,
    "num_hidden_layers": 30,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "n_shared_experts": None,
    "n_routed_experts": None,
    "num_experts_per_tok": None,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "qk_nope_head_dim": 128,
    "first_k_dense_replace": 0,
}


class DeepseekVlV2Text(Sizes):
    """What this architecture alone has."""

    balanced: bool


def spec(c: Config) -> Spec[DeepseekVlV2Text]:
    c = c.assuming(_ABSENT)
    bias = c.bool("attention_bias", default=False)
    mixer = keys.mla(c) if c.bool("use_mla", default=True) else keys.attention(c, bias=bias, indivisible="refused")
    places = keys.dense_and_stepped(c)
    if c.is_null("n_routed_experts"):
        places = Indices.below(keys.layer_count(c)), Indices.below(0)
    own = DeepseekVlV2Text.read(c, balanced=c.str("topk_method", default="greedy") == "noaux_tc")
    layers = keys.networks(c, places, lambda: keys.deepseek_moe(c), mixer)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model")).having(own)


def blueprint(s: Spec[DeepseekVlV2Text]) -> Block:
    d, balanced = s.hidden, s.own.balanced

    def layer(one: Layer) -> Block:
        attention = mla(d, one.latent) if isinstance(one.mixer, MLA) else gqa(d, one.attention)
        return pre_norm(d, self_attn=attention, mlp=network(d, one, lambda m: shared_moe(d, m, balanced=balanced)))

    return decoder(s, layer)
