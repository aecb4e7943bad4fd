"""wav2vec 2.0, HuBERT, UniSpeech and WavLM: convolutions over the waveform, then layers (arXiv:2006.11477)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.audio import quantizer, relative_gate, waveform, waveform_adapter, waveform_layer
from hfcount.parts.conversions import WEIGHT_NORM
from hfcount.parts.layers import altered, within
from hfcount.parts.norms import layer_norm
from hfcount.parts.speech import speech_heads
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_wav2vec2.py, modeling_hubert.py, modeling_unispeech.py, modeling_unispeech_sat.py,
# modeling_wavlm.py
MODEL_TYPES = ("wav2vec2", "hubert", "unispeech", "unispeech-sat", "wavlm")
IGNORED = (
    *keys.UNHEARD,
    "do_stable_layer_norm",
    "max_bucket_distance",
    "num_clusters",
    "num_ctc_classes",
    "replace_prob",
)
SPELLINGS = WEIGHT_NORM

_FEW = keys.named(("Model", "ForSequenceClassification"), ForCTC="ctc")
_HEADS = {
    "wav2vec2": keys.named(keys.SPEECH_HEADS, ForPreTraining="pretraining"),
    "hubert": _FEW,
    "unispeech": keys.named(_FEW, ForPreTraining="pretraining"),
    "unispeech-sat": keys.named(keys.SPEECH_HEADS, ForPreTraining="pretraining"),
    "wavlm": keys.SPEECH_HEADS,
}

# How many classes the first training knows of.
_CLASSES = {"unispeech": ("num_ctc_classes", "C_c", 80), "unispeech-sat": ("num_clusters", "C_l", 504)}


def spec(c: Config) -> Spec:
    d, traits = c.int("hidden_size"), keys.waveform(c)
    relative, narrow = c.family == "wavlm", c.int("adapter_attn_dim", default=None)
    mixer, ffn = keys.multi_head(c, d, c.int("num_attention_heads")), keys.dense(c, bias=True)
    buckets = keys.sized("b", c.int("num_buckets", default=320)) if relative else 0
    count, first = keys.layer_count(c), Layer(mixer=mixer, ffn=ffn, traits={"buckets": buckets})
    one, later = Indices.below(1), Indices.span(1, count)
    layers = keys.split(c, (one, lambda: first), (later, lambda: first.but(traits={"buckets": 0})))
    traits |= {"relative": relative, "adapter_attn_dim": keys.sized("d_n", narrow) if narrow else 0}
    layered = layers if relative else keys.alike(first, count)
    if c.family in _CLASSES:
        key, symbol, usual = _CLASSES[c.family]
        traits[key] = keys.sized(symbol, c.int(key, default=usual))
    return keys.speech(c, layered, traits, heads=_HEADS[c.family])


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        usual = waveform_layer(d, one, s.traits["adapter_attn_dim"])
        return altered(usual, attention=relative_gate(d, one)) if s.traits["relative"] else usual

    body = altered(waveform(s, layer), adapter=waveform_adapter(s) if "num_adapter_layers" in s.traits else None)
    taught = {"pretraining": _taught(s)} if s.head == "pretraining" else {}
    return speech_heads(s, s.family.replace("-", "_"), body, **taught)


def _taught(s: Spec) -> Block:
    d, usual = s.hidden, quantizer(s)
    if s.family == "wav2vec2":
        return usual
    wide, narrow = s.traits["codevector_dim"], s.traits["proj_codevector_dim"]
    if s.family == "unispeech":
        classes = Linear(d, s.traits["num_ctc_classes"], True, "other")
        return altered(usual, project_hid=Linear(narrow, d, True, "other"), ctc_proj=classes)
    words = s.traits["num_codevector_groups"] * s.traits["num_codevectors_per_group"]
    return altered(
        within(usual, quantizer=block(weight_proj=Linear(d, words, True))),
        speaker_proj=Linear(d, wide, True, "other"),
        label_embeddings_concat=Tensor((s.traits["num_clusters"], wide), component="other"),
        layer_norm_for_extract=layer_norm(d),
    )
