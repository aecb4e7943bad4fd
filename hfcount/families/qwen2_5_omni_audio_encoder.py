"""Qwen2.5-Omni's audio encoder: Whisper's layers without a table of positions, then a projection (arXiv:2503.20215)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import altered, embedding, layer_norm, stack
from hfcount.parts.classic import mha
from hfcount.parts.seq2seq import bart_layer
from hfcount.parts.temporal import conv
from hfcount.spec import Dense, Layer, Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("qwen2_5_omni_audio_encoder",)  # transformers 5.23: modeling_qwen2_5_omni.py
IGNORED = ("max_source_positions", "n_window")


class Qwen25OmniAudioEncoder(Sizes):
    """What this architecture alone has."""

    num_mel_bins: int = size("b")


def spec(c: Config) -> Spec[Qwen25OmniAudioEncoder]:
    d, width = c.int("d_model"), Dense(width=c.int("encoder_ffn_dim"), bias=True)
    layer = Layer(mixer=keys.multi_head(c, d, c.int("encoder_attention_heads")), ffn=width)
    layers, out = keys.uniform(layer, c.int("encoder_layers", maximum=MAX_LAYERS)), c.int("output_dim")
    own = Qwen25OmniAudioEncoder.read(c)
    return keys.encoding(c, layers, hidden=d, out=out).having(own)


def blueprint(s: Spec[Qwen25OmniAudioEncoder]) -> Block:
    d, out = s.hidden, s.output

    def layer(one: Layer) -> Block:
        a = one.attention
        attention = altered(mha(d, a), k_proj=Linear(d, a.heads * a.head_dim))
        return altered(bart_layer(d, one, False), self_attn=attention)

    return block(
        conv1=conv(s.own.num_mel_bins, d, 3, component="embedding"),
        conv2=conv(d, d, 3, component="embedding"),
        audio_bos_eos_token=embedding(2, out),
        layers=stack(s.layers, layer),
        ln_post=layer_norm(d),
        proj=Linear(d, out, True, "projector"),
    )
