"""Qwen3-TTS: Qwen3 over the first code of a frame, a small one over the others, ECAPA-TDNN for a voice (Qwen, 2026)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.vocoders import VoiceEncoder
from hfcount.architectures.layers import embedding, gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("qwen3_tts",)  # modeling_qwen3_tts.py of QwenLM/Qwen3-TTS, package qwen-tts 0.1.1
IGNORED = ("tokenizer_type", "tts_model_size", "sample_rate")
CLASSES = ("Qwen3TTSForConditionalGeneration",)

# configuration_qwen3_tts.py of the same.
_VOICE = {
    "mel_dim": 128,
    "enc_dim": 1024,
    "enc_channels": [512, 512, 512, 512, 1536],
    "enc_kernel_sizes": [5, 3, 3, 3, 1],
    "enc_dilations": [1, 2, 3, 4, 1],
    "enc_attention_channels": 128,
    "enc_res2net_scale": 8,
    "enc_se_channels": 128,
}
_TALKER = {
    "vocab_size": 3072,
    "hidden_size": 1024,
    "intermediate_size": 2048,
    "num_hidden_layers": 20,
    "num_attention_heads": 16,
    "num_key_value_heads": 2,
    "text_hidden_size": 2048,
}
_PREDICTOR = {
    "vocab_size": 2048,
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 5,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "num_code_groups": 32,
}


class Voice(Sizes):
    """What a voice is read by: frames of so many mels, and what sums them up."""

    encoder: VoiceEncoder
    mel_dim: int = size("b")


class Qwen3Tts(Sizes):
    voice: Voice | None


def spec(c: Config) -> Spec[Qwen3Tts]:
    talker = families.part(c, "talker_config", always="qwen3_tts_talker")
    voice = None
    if c.str("tts_model_type", default="") == "base":  # which speaks in any voice that it hears
        heard = c.part("speaker_encoder_config").assuming(_VOICE)
        voice = Voice.read(heard, encoder=VoiceEncoder.read(heard))
    model = keys.composite(c, talker, {}, key="talker_config", heads=("ForConditionalGeneration",))
    return model.replace(tied=False).having(Qwen3Tts.read(c, voice=voice))


def blueprint(s: Spec[Qwen3Tts]) -> Block:
    voice = s.own.voice
    heard = None if voice is None else Block(voice.encoder.tensors(voice.mel_dim).children, "audio", repeats=0)
    return block(talker=families.tree(s.part("text")), speaker_encoder=heard)


class Talker(Sizes):
    text_vocab_size: int = size("|V_t|")
    text_hidden_size: int = size("d_t")


def talker_spec(c: Config) -> Spec[Talker]:
    """Qwen3-TTS's talker: Qwen3's layers over text and the first code of each frame, and what predicts the others."""
    c = c.assuming(_TALKER)
    bias = c.bool("attention_bias", default=False)
    layer = Layer(mixer=keys.attention(c, bias=bias, qk_norm=True), ffn=keys.dense(c))
    parts = {"predictor": families.part(c, "code_predictor_config", always="qwen3_tts_talker_code_predictor")}
    windows = keys.sliding_everywhere(c) if c.bool("use_sliding_window", default=False) else ()
    model = keys.decoder_spec(c, layer, heads=("ForConditionalGeneration",), parts=parts, windows=windows)
    return model.replace(tied=False).having(Talker.read(c))


def talker_blueprint(s: Spec[Talker]) -> Block:
    d, text = s.hidden, s.own.text_hidden_size
    body = block(
        layers=stack(s.layers, lambda layer: _layer(d, layer)),
        norm=rms_norm(d),
        codec_embedding=embedding(s.vocab, d),
        text_embedding=embedding(s.own.text_vocab_size, text),
    )
    return block(
        model=body,
        text_projection=block("projector", linear_fc1=Linear(text, text, True), linear_fc2=Linear(text, d, True)),
        codec_head=Linear(d, s.vocab, component="lm_head"),
        code_predictor=_predictor(s.part("predictor"), d),
    )


class Predictor(Sizes):
    books: int


def predictor_spec(c: Config) -> Spec[Predictor]:
    """Qwen3-TTS's code predictor: Qwen3 with an embedding and a head for each further codebook."""
    c = c.assuming(_PREDICTOR)
    bias = c.bool("attention_bias", default=False)
    layer = Layer(mixer=keys.attention(c, bias=bias, qk_norm=True), ffn=keys.dense(c))
    groups = keys.dim("n_c", c.int("num_code_groups"))
    sizes = Predictor.read(c, books=groups - 1 if groups else 0)  # the first is the talker's
    windows = keys.sliding(c, lambda: keys.later(c, first=28)) if c.bool("use_sliding_window", default=False) else ()
    alone = keys.decoder_spec(c, layer, heads=("ForConditionalGeneration",), windows=windows)
    return alone.replace(tied=False).having(sizes)


def predictor_blueprint(s: Spec[Predictor]) -> Block:
    return _predictor(s, s.hidden)


def _predictor(s: Spec, above: int) -> Block:
    """Its tensors: the embeddings are as wide as the talker, `above`, and projected where that is not its own width."""
    d, books = s.hidden, Indices.below(s.sizes(Predictor).books)
    body = block(
        layers=stack(s.layers, lambda layer: _layer(d, layer)),
        norm=rms_norm(d),
        codec_embedding=Repeat(books, embedding(s.vocab, above)),
    )
    return block(
        model=body,
        lm_head=Repeat(books, Linear(d, s.vocab, component="lm_head")),
        small_to_mtp_projection=None if above == d else Linear(above, d, True, component="projector"),
    )


def _layer(d: int, layer: Layer) -> Block:
    return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))


PARTS = (
    families.Family(
        ("qwen3_tts_talker",),
        talker_spec,
        talker_blueprint,
        ignored=(
            "codec_bos_id",
            "codec_language_id",
            "codec_nothink_id",
            "codec_pad_id",
            "codec_think_bos_id",
            "codec_think_eos_id",
            "codec_think_id",
            "num_code_groups",
            "position_id_per_seconds",
            "spk_id",
            "spk_is_dialect",
        ),
    ),
    families.Family(("qwen3_tts_talker_code_predictor",), predictor_spec, predictor_blueprint),
)
