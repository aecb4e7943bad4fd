"""Intern-S1-Pro: Qwen3's experts, turned by sums of learned frequencies, and Qwen3-VL's tower (arXiv:2508.15763)."""

from math import ceil, log, pi

from hfcount.architectures import families, keys
from hfcount.architectures.components.time_series import IGNORED as OF_SERIES
from hfcount.architectures.components.time_series import series_blueprint, series_spec
from hfcount.architectures.layers import altered, base, gqa, moe, network, pre_norm, swiglu
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, block, buffer

# modeling_interns1_pro.py of internlm/Intern-S1-Pro
# and, for time series, interns1_pro_time_series.py of InternLM/lmdeploy 0.16.0
MODEL_TYPES = ("interns1_pro",)
IGNORED = OF_SERIES

# configuration_interns1_pro.py of the same.
_ABSENT = {
    "vocab_size": 151936,
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "max_position_embeddings": 128000,
    "rope_theta": 5e6,
    "decoder_sparse_step": 1,
    "moe_intermediate_size": 1408,
    "num_experts_per_tok": 4,
    "num_experts": 60,
}
_SEEN = {
    "depth": 27,
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_heads": 16,
    "in_channels": 3,
    "patch_size": 16,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "out_hidden_size": 3584,
    "num_position_embeddings": 2304,
}


def spec(c: Config) -> Spec:
    c.part("text_config").assuming(_ABSENT)
    c.part("vision_config").assuming(_SEEN)
    text = families.part(c, "text_config", always="interns1_pro_text")
    towers = {"vision": families.part(c, "vision_config", always="interns1_pro_vision")}
    if c.given("ts_config"):
        towers["audio"] = families.part(c, "ts_config", always="interns1_pro_time_series")
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=text.tied)  # the language model says it for the whole


def blueprint(s: Spec) -> Block:
    heard = {"time_series": families.tower(s, "audio")} if "audio" in s.parts else {}
    return towers_in_model(s, families.base(s), visual=families.tower(s, "vision"), **heard)


class Fourier(Record):
    """How each frequency is a sum of others (FoPE, arXiv:2412.17739): of so many, and for each of so many heads."""

    frequencies: int
    heads: int | None


class Interns1ProText(Sizes):
    fourier: Fourier | None


def text_spec(c: Config) -> Spec[Interns1ProText]:
    """Intern-S1-Pro's language model: Qwen3 with experts, and positions that learn what their frequencies sum."""
    c = c.assuming(_ABSENT)
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True, alone=True)
    layers = keys.sparse_steps(c, mixer, keys.dense(c), lambda: keys.moe(c, "moe_intermediate_size"))
    sizes = Interns1ProText.read(c, fourier=_fourier(c, mixer.head_dim, mixer.kv_heads))
    return keys.decoder_spec(c, layers, heads=("Model",)).having(sizes)


def _fourier(c: Config, width: int, kv_heads: int) -> Fourier | None:
    """What rotates the heads, which are `width` wide: none if rope_scaling names nothing of FoPE."""
    scaling = c.object("rope_scaling") or {}
    count, shared = scaling.get("num_inv_freq"), scaling.get("fope_sep_head")
    if scaling.get("fope_init_factor") is None and count is None and shared is None:
        return None
    kind = scaling.get("type", scaling.get("rope_type"))
    if kind != "default" or scaling.get("fope_init_factor") is None:
        raise UnknownArchitecture(f"{c.where}: FoPE is described with rope_type default and a fope_init_factor.")
    most = (int(width) + 1) // 2
    if count is None:
        count = _coming_round(c, int(width), most)
    elif type(count) is not int or not 0 < count <= most:
        text = f"num_inv_freq of rope_scaling must be 1 to {most:,}, half of a head's width."
        raise c.error("out-of-range", text, "rope_scaling", "Correct it.")
    return Fourier(frequencies=keys.dim("n_f", count), heads=kv_heads if shared else None)


def _coming_round(c: Config, width: int, most: int) -> int:
    """How many frequencies come round at least once in the longest context: each is theta^(-2/d) of the one before."""
    theta, longest = c.number("rope_theta"), c.int("max_position_embeddings")
    if theta <= 1:
        raise c.error("out-of-range", f"rope_theta is {theta:,}, but must exceed 1.", "rope_theta", "Correct it.")
    return min(most, max(0, ceil(width * log(max(1, longest) / (2 * pi)) / (2 * log(theta)))))


def text_blueprint(s: Spec[Interns1ProText]) -> Block:
    d, of = s.hidden, s.own.fourier

    def layer_block(layer: Layer) -> Block:
        experts = network(d, layer, lambda m: moe(d, m, swiglu(d, m.width, component="experts")))
        return pre_norm(d, self_attn=altered(gqa(d, layer.attention), rotary_emb=None), mlp=experts)

    if of is None:
        return base(s, layer_block)
    shape = (of.frequencies, of.frequencies) if of.heads is None else (of.heads, of.frequencies, of.frequencies)
    coefficients = buffer(*shape, component="other")
    return altered(base(s, layer_block), rotary_emb=block(sin_coef=coefficients, cos_coef=coefficients))


PARTS = (
    families.Family(("interns1_pro_text",), text_spec, text_blueprint, ignored=("router_n_groups",)),
    families.Family(("interns1_pro_time_series",), series_spec, series_blueprint, ignored=OF_SERIES),
)
