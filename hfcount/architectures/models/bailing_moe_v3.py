"""Ling 3: Kimi Delta Attention, and in the last layer of each group latent attention with a gate for each head."""

from hfcount.architectures import keys
from hfcount.architectures.components import ling
from hfcount.architectures.components.ling import bailing_experts, in_groups
from hfcount.architectures.layers import altered, network, pre_norm
from hfcount.architectures.layers.mixers import kimi_delta
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import DeltaNet, Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Tensor

# bailing_moe_v3.py of ml-explore/mlx-lm 0.32.2 and of sgl-project/sglang 0.5.23
MODEL_TYPES = ("bailing_moe_v3",)
CLASSES = ("BailingMoeV3ForCausalLM",)
PREDICTORS = ("BailingMoeV3MTPModel", "BailingMoeForCausalLMNextN")
IGNORED = ("kda_lower_bound", "kda_safe_gate", "score_function", "use_mla_nope", "use_rmsnorm")


class BailingMoeV3(Sizes):
    """Whether decays and gates of the delta attention come from one projection each."""

    no_kda_lora: bool = flag(absent=False)


def spec(c: Config) -> Spec[BailingMoeV3]:
    if c.bool("multi_gate", default=False) or c.str("router_type", default="topN") == "MultiRouter":
        raise UnknownArchitecture(f"{c.where}: {c.family} is not described with routers for images and sound.")
    heads, width = c.int("num_attention_heads"), c.int("head_dim")
    kernel = c.int("short_conv_kernel_size")
    linear = DeltaNet(key_heads=heads, value_heads=heads, key_dim=width, value_dim=width, kernel=kernel)
    latent = keys.mla(c)

    def experts() -> MoE:
        return bailing_experts(c)

    networks = keys.networks(c, keys.dense_and_sparse(c, "first_k_dense_replace", listed=None), experts)
    layers = keys.combined(in_groups(c, latent, linear), networks)
    ahead = keys.mtp(c, lambda: Layer(mixer=latent, ffn=experts()))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), parts=ahead).having(BailingMoeV3.read(c))


def blueprint(s: Spec[BailingMoeV3]) -> Block:
    d = s.hidden

    def attention(layer: Layer) -> Block:
        mixer = layer.mixer
        if isinstance(mixer, DeltaNet):
            return altered(kimi_delta(d, mixer, ranked=not s.own.no_kda_lora), A_log=Tensor((mixer.key_heads,)))
        return ling.latent(d, layer.latent, gated=True)

    def sparse(m: MoE) -> Block:
        return ling.experts(d, m, balanced=True)

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, attention=attention(layer), mlp=network(d, layer, sparse))

    return ling.model(s, layer_block)
