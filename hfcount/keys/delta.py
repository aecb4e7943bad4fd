"""Kimi's delta attention beside latent attention."""

from hfcount.keys.attention import indexed
from hfcount.keys.layers import indexing, kinds, mixed
from hfcount.keys.sizes import layer_count
from hfcount.mapper import Config
from hfcount.spec import MLA, DeltaNet, Layer, Layers
from hfcount.tree.indices import Indices, intersection


def delta_and_latent(c: Config) -> list[Layers]:
    """Delta attention, and in every fourth layer latent attention, to tokens that an indexer or an earlier one selects.

    Source: transformers 5.23, configuration_glm5_next.py, Glm5NextTextConfig.
    """
    own, count = c.part("linear_attn_config"), layer_count(c)
    heads = own.int("num_heads", default=None) or c.int("linear_num_heads")
    width = own.int("head_dim", default=None) or c.int("linear_head_dim")
    kernel = own.int("short_conv_kernel_size", default=None) or c.int("linear_conv_kernel_dim")
    linear = DeltaNet(key_heads=heads, value_heads=heads, key_dim=width, value_dim=width, kernel=kernel)
    latent = MLA(
        heads=c.int("num_attention_heads"),
        q_lora_rank=c.int("q_lora_rank"),
        kv_lora_rank=c.int("kv_lora_rank"),
        nope_dim=c.int("qk_nope_head_dim"),
        rope_dim=c.int("qk_rope_head_dim", minimum=0),
        value_dim=c.int("v_head_dim"),
        bias=c.bool("attention_bias", default=False),
    )
    first, later = indexed(c, latent)
    listed = kinds(c, "layer_types")
    attending = Indices.span(3, max(3, count), 4)
    mixers = mixed(c, latent, linear, listed, attending, "full_attention")
    some = indexing(c)
    rest = Indices.below(count).difference(*some)
    return [
        Layers(indices=both, layer=_indexed(one.layer, later if part is rest else first))
        for one in mixers
        for part in (*some, rest)
        if (both := intersection(one.indices, part)).count
    ]


def _indexed(one: Layer, attention: MLA) -> Layer:
    return one.replace(mixer=attention) if isinstance(one.mixer, MLA) else one
