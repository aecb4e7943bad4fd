"""Voxtral Realtime's encoder: two convolutions over the spectrogram, then causal layers (arXiv:2602.11298)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import altered, gqa, rms_norm, stack, swiglu
from hfcount.parts.temporal import conv
from hfcount.spec import GQA, Layer, Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("voxtral_realtime_encoder",)  # transformers 5.23: modeling_voxtral_realtime.py
IGNORED = ("vocab_size",)


class VoxtralRealtimeEncoder(Sizes):
    """What this architecture alone has."""

    num_mel_bins: int = size("b")


def spec(c: Config) -> Spec[VoxtralRealtimeEncoder]:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    width = d // heads if c.is_null("head_dim") else c.int("head_dim")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=width, qkv_bias=True, out_bias=True)
    layer = Layer(mixer=mixer, ffn=keys.dense(c))
    layers = keys.uniform(layer, c.int("num_hidden_layers", maximum=MAX_LAYERS))
    own = VoxtralRealtimeEncoder.read(c)
    return keys.encoding(c, layers, hidden=d).having(own)


def blueprint(s: Spec[VoxtralRealtimeEncoder]) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a, width = one.attention, one.dense.width
        return block(
            self_attn=altered(gqa(d, a), k_proj=Linear(d, a.heads * a.head_dim)),
            self_attn_layer_norm=rms_norm(d),
            final_layer_norm=rms_norm(d),
            mlp=altered(swiglu(d, width), down_proj=Linear(width, d, True)),
        )

    first, second = conv(s.own.num_mel_bins, d, 3), conv(d, d, 3)
    embedder = block("embedding", conv1=first, conv2=second)
    return block(embedder=embedder, layers=stack(s.layers, layer), norm=rms_norm(d))
