"""SEW and SEW-D: wav2vec 2.0 whose layers see squeezed sequences, SEW-D's like DeBERTa's (arXiv:2109.06870)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, embedding, layer_norm, stack
from hfcount.parts.audio import filters, last_filter, masked, places, waveform_layer
from hfcount.parts.conversions import WEIGHT_NORM
from hfcount.parts.encoders import bert_layer
from hfcount.parts.speech import speech_heads
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("sew", "sew-d")  # transformers 5.23: modeling_sew.py, modeling_sew_d.py
IGNORED = keys.UNHEARD
SPELLINGS = WEIGHT_NORM

_HEADS = keys.named(("Model", "ForSequenceClassification"), ForCTC="ctc")


def spec(c: Config) -> Spec:
    mixer = keys.multi_head(c, c.int("hidden_size"), c.int("num_attention_heads"))
    traits = keys.waveform(c) | {"squeeze_factor": keys.sized("S", c.int("squeeze_factor")), "distances": 0}
    if c.family == "sew-d":
        relative, shared = c.bool("relative_attention"), c.bool("share_att_key")
        near, rows = c.int("position_buckets", default=-1, minimum=-1), c.int("max_position_embeddings")
        far = c.int("max_relative_positions", default=-1, minimum=-1)
        kinds = c.strs("pos_att_type") or ([] if c.has("pos_att_type") else ["p2c", "c2p"])
        traits["distances"] = keys.sized("n_r", near if near > 0 else far if far > 0 else rows) if relative else 0
        traits["norm_rel_ebd"] = "layer_norm" in c.str("norm_rel_ebd")
        traits |= {kind: kind in kinds and relative and not shared for kind in ("c2p", "p2c")}
    return keys.speech(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), traits, heads=_HEADS)


def blueprint(s: Spec) -> Block:
    d, of, before = s.hidden, s.traits, last_filter(s)
    wider = Linear(d, d * of["squeeze_factor"], True, "other")
    encoder = block(pos_conv_embed=places(s), upsample=block(projection=wider))
    if s.family == "sew":
        layers = stack(s.layers, lambda one: waveform_layer(d, one))
        encoder = altered(encoder, layer_norm=layer_norm(d), layers=layers)
    else:
        encoder = altered(encoder, encoder=_disentangled(s))
    body = block(
        masked_spec_embed=masked(s),
        feature_extractor=filters(s),
        layer_norm=layer_norm(before),
        feature_projection=Linear(before, d, True, "embedding") if before != d else None,
        encoder=encoder,
    )
    return speech_heads(s, s.family.replace("-", "_"), body)


def _disentangled(s: Spec) -> Block:
    d, of, square = s.hidden, s.traits, Linear(s.hidden, s.hidden, True)
    more = {"pos_key_proj": square if of["c2p"] else None, "pos_query_proj": square if of["p2c"] else None}
    own = block("attention", query_proj=square, key_proj=square, value_proj=square, **more)
    out = block(dense=Linear(d, d, True, "attention"), LayerNorm=layer_norm(d))

    def layer(one: Layer) -> Block:
        usual = bert_layer(d, one.but(cross_attention=False))
        return altered(usual, attention=block(self=own, output=out))

    return block(
        layer=stack(s.layers, layer),
        rel_embeddings=embedding(2 * of["distances"], d) if of["distances"] else None,
        LayerNorm=layer_norm(d) if of["norm_rel_ebd"] else None,
    )
