"""Hunyuan-A13B: routed experts and a shared one in every layer (Hunyuan-A13B technical report)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, experts, gqa, pre_norm, rms_norm, swiglu
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, Layers, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("hunyuan_v1_moe",)  # transformers 5.23: modeling_hunyuan_v1_moe.py
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    count, among, width = keys.layer_count(c), c.int("num_experts", "num_local_experts"), c.int("intermediate_size")
    chosen = c.ints("moe_topk", "num_experts_per_tok", alone=True)
    if len(chosen) != 1 and len(chosen) < count:
        raise c.error(
            "list-length", f"moe_topk must be one number, or one for each of the {count:,} layers.", "moe_topk"
        )
    chosen = [keys.at_most(c, "moe_topk", number, among) for number in chosen[:count]]
    layers = []
    for active in sorted(set(chosen)):
        where = Indices.of(place for place, number in enumerate(chosen) if number == active)
        ffn = MoE(experts=among, active=active, width=width, shared=width)
        layers.append(
            Layers(indices=Indices.below(count) if len(chosen) == 1 else where, layer=Layer(mixer=mixer, ffn=ffn))
        )
    return keys.decoder_spec(c, layers)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        m, a = layer.moe, layer.attention
        return pre_norm(
            d,
            self_attn=altered(gqa(d, a), query_layernorm=rms_norm(a.head_dim), key_layernorm=rms_norm(a.head_dim)),
            mlp=block(
                gate=block("router", wg=Linear(d, m.experts)),
                experts=experts(m, swiglu(d, m.width, component="experts")),
                shared_mlp=swiglu(d, m.width),
            ),
        )

    return decoder(s, layer_block)
