"""Voxtral Realtime: some frames of a causal encoder make one token of a language model (arXiv:2602.11298)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, base, gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import inside
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import GQA, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("voxtral_realtime",)  # transformers 5.23: modeling_voxtral_realtime.py
IGNORED = ("audio_length_per_tok", "default_num_delay_tokens")
SPELLINGS = inside("audio_tower", "multi_modal_projector")


class VoxtralRealtime(Sizes):
    downsample_factor: int = size("m", absent=4)


def spec(c: Config) -> Spec[VoxtralRealtime]:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    sizes = VoxtralRealtime.read(c)
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=True)
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied).having(sizes)


def blueprint(s: Spec[VoxtralRealtime]) -> Block:
    wide = s.own.downsample_factor * s.part("audio").hidden
    projector = block("projector", linear_1=Linear(wide, s.hidden), linear_2=Linear(s.hidden, s.hidden))
    return llava(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)


_RANK = 32  # of the projection of the delay


def text_spec(c: Config) -> Spec:
    """Voxtral Realtime's language model: Ministral, each layer scaled by the delay in tokens (arXiv:2602.11298)."""
    layer, windows = Layer(mixer=keys.attention(c), ffn=keys.dense(c)), keys.sliding_everywhere(c, default=4096)
    return keys.decoder_spec(c, layer, heads=("Model",), windows=windows)


def text_blueprint(s: Spec) -> Block:
    d = s.hidden
    scale = block("norm", linear1=Linear(d, _RANK), linear2=Linear(_RANK, d))

    def layer_block(layer: Layer) -> Block:
        usual = pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))
        return altered(usual, ada_rms_norm=scale)

    return base(s, layer_block)


class VoxtralRealtimeEncoder(Sizes):
    num_mel_bins: int = size("b")


def encoder_spec(c: Config) -> Spec[VoxtralRealtimeEncoder]:
    """Voxtral Realtime's encoder: two convolutions over the spectrogram, then causal layers (arXiv:2602.11298)."""
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    width = d // heads if c.is_null("head_dim") else c.int("head_dim")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=width, qkv_bias=True, out_bias=True)
    layer = Layer(mixer=mixer, ffn=keys.dense(c))
    layers = keys.uniform(layer, c.int("num_hidden_layers", maximum=MAX_LAYERS))
    sizes = VoxtralRealtimeEncoder.read(c)
    return keys.encoding(c, layers, hidden=d).having(sizes)


def encoder_blueprint(s: Spec[VoxtralRealtimeEncoder]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        return block(
            self_attn=altered(gqa(d, a), k_proj=Linear(d, a.heads * a.head_dim)),
            self_attn_layer_norm=rms_norm(d),
            final_layer_norm=rms_norm(d),
            mlp=altered(swiglu(d, width), down_proj=Linear(width, d, True)),
        )

    first, second = conv(s.own.num_mel_bins, d, 3), conv(d, d, 3)
    embedder = block("embedding", conv1=first, conv2=second)
    return block(embedder=embedder, layers=stack(s.layers, layer_block), norm=rms_norm(d))


PARTS = (
    families.Family(("voxtral_realtime_text",), text_spec, text_blueprint),
    families.Family(("voxtral_realtime_encoder",), encoder_spec, encoder_blueprint, ignored=("vocab_size",)),
)
