"""Param2: Ling's layers, whose shared experts are as wide together as a key says (https://huggingface.co/bharatgenai)."""

from hfcount.architectures import keys
from hfcount.architectures.models.bailing_moe import BailingMoe
from hfcount.architectures.models.bailing_moe import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import MoE, Spec

MODEL_TYPES = ("param2moe",)  # param2moe.py of vllm-project/vllm 0.33
CLASSES = ("Param2MoEForCausalLM",)
IGNORED = ("score_function",)


def spec(c: Config) -> Spec[BailingMoe]:
    qkv, out = c.bool("use_qkv_bias", default=False), c.bool("use_bias", default=False)
    mixer = keys.attention(c, qkv_bias=qkv, out_bias=out, qk_norm=c.bool("use_qk_norm", default=False))

    def experts() -> MoE:
        routed = keys.moe(c, "moe_intermediate_size", experts=("num_experts",))
        each, count = c.int("moe_intermediate_size"), c.int("num_shared_experts", default=1, minimum=0)
        together = c.int("moe_shared_expert_intermediate_size", default=None) or each * count
        return routed.replace(shared=together if count else None)

    places = keys.dense_and_sparse(c, "first_k_dense_replace", default=1, listed=None)
    layers = keys.networks(c, places, experts, mixer)
    sizes = BailingMoe.read(c, balanced=c.bool("moe_router_enable_expert_bias", default=True), their_own=False)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model")).having(sizes)
