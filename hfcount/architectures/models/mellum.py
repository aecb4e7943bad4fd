"""Mellum 2: routed experts in the layers that the config names (https://huggingface.co/JetBrains)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, moe, network, pre_norm, swiglu
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Undescribed

MODEL_TYPES = ("mellum",)  # transformers 5.23: modeling_mellum.py
MERGED = packed()


class Mellum(Sizes):
    num_mtp_layers: int


def spec(c: Config) -> Spec[Mellum]:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True, head_dim=128)
    dense, (few, many) = keys.dense(c), keys.dense_and_sparse(c, default=0)
    layers = keys.split(
        (few, lambda: Layer(mixer=mixer, ffn=dense)),
        (many, lambda: Layer(mixer=mixer, ffn=keys.moe(c, "moe_intermediate_size"))),
    )
    ahead = c.int("num_mtp_layers", "num_nextn_predict_layers", default=0, minimum=0)
    return keys.decoder_spec(c, layers, windows=keys.sliding(c, default=1024)).having(
        Mellum.read(c, num_mtp_layers=ahead)
    )


def blueprint(s: Spec[Mellum]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(
            d,
            self_attn=gqa(d, layer.attention),
            mlp=network(d, layer, lambda m: moe(d, m, swiglu(d, m.width, component="experts"))),
        )

    ahead = Undescribed("its layers for multi-token prediction are not described") if s.own.num_mtp_layers else None
    return altered(decoder(s, layer_block), mtp=ahead)
