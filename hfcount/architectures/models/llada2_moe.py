"""LLaDA 2: Ling 2's layers, whose tokens see the others of their block (arXiv:2512.15745)."""

from hfcount.architectures import keys
from hfcount.architectures.models.bailing_moe import BailingMoe
from hfcount.architectures.models.bailing_moe import blueprint as blueprint
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import MoE, Spec

MODEL_TYPES = ("llada2_moe",)  # modeling_llada2_moe.py of inclusionAI/LLaDA2.0-mini
IGNORED = ("moe_router_enable_expert_bias", "norm_head", "rotary_dim")


def spec(c: Config) -> Spec[BailingMoe]:
    if c.bool("use_bias"):  # its readers differ in which layers have one
        raise UnknownArchitecture(f"{c.where}: llada2_moe is described without biases, as it was published, alone.")
    normed = c.bool("use_qk_norm", default=True)
    mixer = keys.attention(c, qkv_bias=c.bool("use_qkv_bias", default=False), qk_norm=normed)

    def experts() -> MoE:
        routed = keys.moe(c, "moe_intermediate_size", experts=("num_experts",))
        return routed.replace(shared=routed.width * c.int("num_shared_experts", default=0, minimum=0) or None)

    places = keys.dense_and_sparse(c, "first_k_dense_replace", default=0, listed=None)
    layers = keys.networks(c, places, experts, mixer)
    heads = keys.named(("Model",), ModelLM="causal_lm")
    return keys.decoder_spec(c, layers, heads=heads).having(BailingMoe.read(c, balanced=True, their_own=False))
