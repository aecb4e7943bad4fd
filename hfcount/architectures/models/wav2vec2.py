"""wav2vec 2.0, HuBERT, UniSpeech, WavLM, MERT: convolutions over the waveform, then layers (arXiv:2006.11477)."""

from hfcount.architectures import keys
from hfcount.architectures.components.speech import SPEECH_HEADS, UNHEARD, Codebooks, Speech, needed, speech
from hfcount.architectures.components.waveforms import Waveform, waveform_layer
from hfcount.architectures.layers.classic import classifier, mha
from hfcount.architectures.layers.conversions import WEIGHT_NORM
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.stacks import altered, within
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_wav2vec2.py, modeling_hubert.py, modeling_unispeech.py, modeling_unispeech_sat.py,
# modeling_wavlm.py
# src/models.py of m3hrdadfi/soxan: the classes that it adds, which others took over
# modeling_MERT.py and configuration_MERT.py of m-a-p/MERT-v1-330M: HuBERT under another name
MODEL_TYPES = ("wav2vec2", "hubert", "unispeech", "unispeech-sat", "wavlm", "mert_model")
CLASSES = ("Wav2Vec2ForSpeechClassification", "HubertForSpeechClassification", "MERTModel")
IGNORED = (
    *UNHEARD,
    "attention_relax",
    "deepnorm",
    "feature_extractor_cqt_bins",
    "sample_rate",
    "freeze_feat_extract_train",
    "mask_channel_length",
    "mask_channel_min_space",
    "mask_time_min_space",
    "max_bucket_distance",
    "num_clusters",
    "num_ctc_classes",
    "pooling_mode",
    "replace_prob",
)
SPELLINGS = WEIGHT_NORM

_FEW = keys.named(("Model", "ForSequenceClassification"), ForCTC="ctc")
_SPOKEN = "ForSpeechClassification"
_HEADS = {
    "wav2vec2": keys.named({**SPEECH_HEADS, _SPOKEN: "sequence_classification"}, ForPreTraining="pretraining"),
    "hubert": keys.named({**_FEW, _SPOKEN: "sequence_classification"}),
    "unispeech": keys.named(_FEW, ForPreTraining="pretraining"),
    "unispeech-sat": keys.named(SPEECH_HEADS, ForPreTraining="pretraining"),
    "wavlm": SPEECH_HEADS,
    "mert_model": keys.named(("Model",)),
}

# How many classes the first training knows of.
_CLASSES = {"unispeech": ("num_ctc_classes", "C_c", 80), "unispeech-sat": ("num_clusters", "C_l", 504)}


class Wav2Vec2(Record):
    """What wav2vec 2.0 and its kin alone have.

    `relative` is whether positions are relative and gated, `adapter_attn_dim` the width of an adapter in each layer,
    and `classes` how many the first training knows of.
    """

    waveform: Waveform
    speech: Speech
    relative: bool
    adapter_attn_dim: int | None
    classes: int | None


class Wav2Vec2Layer(Record):
    """A layer of it: WavLM's first has a table of relative positions, of so many `buckets`."""

    buckets: int | None


def spec(c: Config) -> Spec[Wav2Vec2]:
    if c.family == "mert_model":
        c.kind = "hubert"  # whose defaults are its own
        if c.bool("feature_extractor_cqt", default=False):
            raise UnknownArchitecture(f"{c.where}: MERT is described without a transform of constant Q.")
    d, waveform = c.int("hidden_size"), Waveform.read(c)
    relative = c.family == "wavlm"
    adapted = c.bool("do_stable_layer_norm", default=False) and not relative  # other layers have no adapter
    if not adapted:
        c.without_effect("adapter_attn_dim")
    narrow = c.int("adapter_attn_dim", default=None, minimum=0) if adapted else None
    mixer, ffn = keys.multi_head(c, d, c.int("num_attention_heads")), keys.dense(c, bias=True)
    buckets = keys.dim("b", c.int("num_buckets", default=320)) if relative else None
    count, first = keys.layer_count(c), Layer(mixer=mixer, ffn=ffn, own=Wav2Vec2Layer(buckets=buckets))
    first_layer, later = Indices.below(1), Indices.span(1, count)
    layers = keys.split((first_layer, lambda: first), (later, lambda: first.replace(own=Wav2Vec2Layer(buckets=None))))
    layered, classes = layers if relative else keys.uniform(first, count), None
    if c.family in _CLASSES:
        key, symbol, usual = _CLASSES[c.family]
        classes = keys.dim(symbol, c.int(key, default=usual))
    body = speech(c, layered, heads=_HEADS[c.family])
    sizes = Wav2Vec2(
        waveform=waveform,
        speech=body.own,
        relative=relative,
        adapter_attn_dim=None if narrow is None else keys.dim("d_n", narrow),
        classes=classes,
    )
    return body.having(sizes)


def blueprint(s: Spec[Wav2Vec2]) -> Block:
    d, sizes = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        usual = waveform_layer(d, layer, sizes.adapter_attn_dim)
        return altered(usual, attention=_relative(d, layer)) if sizes.relative else usual

    body = altered(sizes.waveform.tensors(s, layer_block), adapter=sizes.speech.adapted(s))
    if s.architecture.endswith(_SPOKEN):
        spoken = block("other", dense=Linear(d, d, True), out_proj=classifier(s))
        return Block({s.family: body, "classifier": spoken})
    taught = dict[str, Block]()
    if s.head == "pretraining":
        taught["pretraining"] = _taught(s, needed(sizes.speech.codebooks, s.head))
    return sizes.speech.heads(s, s.family.replace("-", "_"), body, **taught)


def _relative(d: int, layer: Layer) -> Block:
    """Attention with gated relative positions (arXiv:2110.13900)."""
    a, buckets = layer.attention, layer.sizes(Wav2Vec2Layer).buckets
    table = block(weight=Tensor((buckets, a.heads))) if buckets else None
    gate = Linear(a.head_dim, 8, True)
    constant = Tensor((1, a.heads, 1, 1))
    return altered(mha(d, a), gru_rel_pos_const=constant, gru_rel_pos_linear=gate, rel_attn_embed=table)


def _taught(s: Spec[Wav2Vec2], books: Codebooks) -> Block:
    d, usual, classes = s.hidden, books.tensors(s.hidden, s.own.waveform.width), s.own.classes
    if classes is None:
        return usual
    wide, narrow = books.codevector_dim, books.proj_codevector_dim
    if s.family == "unispeech":
        known = Linear(d, classes, True, "other")
        return altered(usual, project_hid=Linear(narrow, d, True, "other"), ctc_proj=known)
    return altered(
        within(usual, quantizer=block(weight_proj=Linear(d, books.words, True))),
        speaker_proj=Linear(d, wide, True, "other"),
        label_embeddings_concat=Tensor((classes, wide), component="other"),
        layer_norm_for_extract=layer_norm(d),
    )
