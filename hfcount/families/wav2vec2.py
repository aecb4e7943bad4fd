"""wav2vec 2.0, HuBERT, UniSpeech and WavLM: convolutions over the waveform, then layers (arXiv:2006.11477)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.audio import relative_gate, waveform, waveform_adapter, waveform_layer
from hfcount.parts.classic import classifier, headed
from hfcount.parts.layers import altered
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_wav2vec2.py, modeling_hubert.py, modeling_unispeech.py, modeling_unispeech_sat.py,
# modeling_wavlm.py
MODEL_TYPES = ("wav2vec2", "hubert", "unispeech", "unispeech-sat", "wavlm")
IGNORED = tuple(
    "conv_stride num_feat_extract_layers num_codevector_groups num_codevectors_per_group codevector_dim num_negatives"
    " proj_codevector_dim tdnn_dim tdnn_kernel tdnn_dilation xvector_output_dim adapter_stride mask_time_length"
    " mask_feature_length mask_time_min_masks mask_feature_min_masks apply_spec_augment max_bucket_distance"
    " ctc_zero_infinity num_clusters num_ctc_classes do_stable_layer_norm replace_prob".split()
)
SPELLINGS = {rf"weight_{old}$": f"parametrizations.weight.original{new}" for old, new in (("g", 0), ("v", 1))}

_HEADS = keys.named(("Model", "ForSequenceClassification"), ForCTC="ctc")


def spec(c: Config) -> Spec:
    d, traits = c.int("hidden_size"), keys.waveform(c)
    relative, narrow = c.family == "wavlm", c.int("adapter_attn_dim", default=None)
    mixer, ffn = keys.multi_head(c, d, c.int("num_attention_heads")), keys.dense(c, bias=True)
    buckets = keys.sized("b", c.int("num_buckets", default=320)) if relative else 0
    count, first = keys.layer_count(c), Layer(mixer=mixer, ffn=ffn, traits={"buckets": buckets})
    one, later = Indices.below(1), Indices.of(range(1, count))
    layers = keys.split(c, (one, lambda: first), (later, lambda: first.but(traits={"buckets": 0})))
    traits |= {"relative": relative, "adapter_attn_dim": keys.sized("d_n", narrow) if narrow else 0}
    for name, letter, default in (("num_adapter_layers", "N_a", 3), ("adapter_kernel_size", "w_a", 3)):
        traits[name] = keys.sized(letter, c.int(name, default=default)) if c.bool("add_adapter", default=False) else 0
    known = keys.decoder_spec(
        c, layers if relative else keys.alike(first, count), vocab=0, hidden=d, heads=_HEADS, traits=traits
    )
    vocab = c.int("vocab_size") if known.head == "ctc" else 0
    return known.but(
        causal=False,
        vocab=vocab,
        out=c.int("output_hidden_size", default=None) if traits["num_adapter_layers"] else None,
    )


def blueprint(s: Spec) -> Block:
    d, out = s.hidden, s.out or s.hidden

    def layer(one: Layer) -> Block:
        usual = waveform_layer(d, one, s.traits["adapter_attn_dim"])
        return altered(usual, attention=relative_gate(d, one)) if s.traits["relative"] else usual

    body = altered(waveform(s, layer), adapter=waveform_adapter(s) if s.traits["num_adapter_layers"] else None)
    wide = s.traits["classifier_proj_size"]
    labels = block(projector=Linear(d, wide, True, "other"), classifier=classifier(s, wide))
    words = block(lm_head=Linear(out, s.vocab, True, "lm_head"))
    return headed(s, s.family.replace("-", "_"), body, ctc=words, sequence_classification=labels)
