"""JetMoE: routed experts in attention (queries and outputs) and in the feed-forward network (arXiv:2404.07413)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, inv_freq, pre_norm, stacked
from hfcount.mapper import Config
from hfcount.spec import GQA, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("jetmoe",)  # transformers 5.23: modeling_jetmoe.py


def spec(c: Config) -> Spec:
    ffn, kv_heads = keys.moe(c, "intermediate_size"), c.int("num_key_value_heads")
    mixer = GQA(heads=kv_heads * ffn.active, kv_heads=kv_heads, head_dim=c.int("kv_channels", "head_dim"))
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=ffn), tied=True)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, m = layer.attention, layer.moe
        width = a.kv_heads * a.head_dim
        router = block("router", layer=Linear(d, m.experts))
        mixing = block(
            bias=Tensor((d,)),
            input_linear=block(weight=stacked(m, width, d)),
            output_linear=block(weight=stacked(m, d, width)),
            router=router,
        )
        return pre_norm(
            d,
            self_attention=block(
                "attention", experts=mixing, kv_proj=Linear(d, 2 * width), rotary_emb=inv_freq(a.head_dim)
            ),
            mlp=block(
                bias=Tensor((d,), component="mlp"),
                input_linear=block("experts", weight=stacked(m, 2 * m.width, d)),
                output_linear=block("experts", weight=stacked(m, d, m.width)),
                router=router,
            ),
        )

    return decoder(s, layer_block)
