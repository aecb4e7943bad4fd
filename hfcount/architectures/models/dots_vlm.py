"""dots.vlm1: dots.ocr's vision tower before DeepSeek-V3's layers (https://github.com/rednote-hilab/dots.vlm1)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

# dots_vlm.py of sgl-project/sglang 0.5.23, dots_vlm_vit.py of sgl-project/sglang 0.5.23
MODEL_TYPES = ("dots_vlm",)
CLASSES = ("DotsVLMForCausalLM",)
IGNORED = ("use_mla",)

# DeepseekV2Config of configs/deepseekvl2.py, where DeepSeek-V3's class means others by absent keys.
_ABSENT = {
    "vocab_size": 102400,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "moe_intermediate_size": 1407,
    "num_hidden_layers": 30,
    "num_attention_heads": 32,
    "n_shared_experts": None,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "qk_nope_head_dim": 128,
    "first_k_dense_replace": 0,
}


def spec(c: Config) -> Spec:
    c = c.assuming(_ABSENT)
    third = c.given("n_routed_experts") and c.str("topk_method", default="") == "noaux_tc"
    third = third and c.int("moe_layer_freq", default=1) == 1
    if not third and c.int("num_nextn_predict_layers", default=0, minimum=0):
        message = "num_nextn_predict_layers is described with experts that are balanced by a bias alone."
        raise c.error("not-described", message, "num_nextn_predict_layers")
    # Its language model's keys stand beside the tower's; attention is latent, whatever use_mla says.
    inner = c.as_part().varied("", {"architectures": None, "use_mla": True})
    text = families.read(inner, "deepseek_v3" if third else "deepseek_vl_v2_text")
    towers = {"vision": families.part(c, "vision_config", "dots_vit"), "text": text}
    heads = keys.named(VLMForCausalLM="causal_lm")
    return keys.decoder_spec(c, text.layers, heads=heads, parts=towers)


def blueprint(s: Spec) -> Block:
    text = families.tree(s.part("text").replace(head=s.head, tied=s.tied))
    return altered(text, vision_tower=families.tower(s, "vision"))
