"""SEW and SEW-D: wav2vec 2.0 whose layers see squeezed sequences, SEW-D's like DeBERTa's (arXiv:2109.06870)."""

from typing import Self

from hfcount.architectures import keys
from hfcount.architectures.components.speech import UNHEARD, Speech, speech
from hfcount.architectures.components.waveforms import Waveform, waveform_layer
from hfcount.architectures.layers import altered, embedding, layer_norm, stack
from hfcount.architectures.layers.conversions import WEIGHT_NORM
from hfcount.architectures.layers.encoders import bert_layer
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("sew", "sew-d")  # transformers 5.23: modeling_sew.py, modeling_sew_d.py
IGNORED = UNHEARD
SPELLINGS = WEIGHT_NORM

_HEADS = keys.named(("Model", "ForSequenceClassification"), ForCTC="ctc")


class Disentangled(Record):
    """Positions of SEW-D, as in DeBERTa: a table of `distances`, and which projections of it are learned."""

    distances: int | None
    norm_rel_ebd: bool
    c2p: bool
    p2c: bool

    @classmethod
    def read(cls, c: Config) -> Self:
        """What the config says of them."""
        relative, shared = c.bool("relative_attention"), c.bool("share_att_key")
        near, rows = c.int("position_buckets", default=-1, minimum=-1), c.int("max_position_embeddings")
        far = c.int("max_relative_positions", default=-1, minimum=-1)
        kinds = c.strs("pos_att_type") or ([] if c.has("pos_att_type") else ["p2c", "c2p"])
        learned = relative and not shared
        return cls(
            distances=keys.dim("n_r", near if near > 0 else far if far > 0 else rows) if relative else None,
            norm_rel_ebd="layer_norm" in [word.strip() for word in c.str("norm_rel_ebd").lower().split("|")],
            c2p=learned and "c2p" in kinds,
            p2c=learned and "p2c" in kinds,
        )


class Sew(Record):
    """Sizes specific to SEW: its layers see one frame of `squeeze_factor`."""

    waveform: Waveform
    speech: Speech
    squeeze_factor: int
    disentangled: Disentangled | None


def spec(c: Config) -> Spec[Sew]:
    mixer = keys.multi_head(c, c.int("hidden_size"), c.int("num_attention_heads"))
    waveform, factor = Waveform.read(c), keys.dim("S", c.int("squeeze_factor"))
    disentangled = Disentangled.read(c) if c.family == "sew-d" else None
    body = speech(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), heads=_HEADS)
    sizes = Sew(waveform=waveform, speech=body.own, squeeze_factor=factor, disentangled=disentangled)
    return body.having(sizes)


def blueprint(s: Spec[Sew]) -> Block:
    d, sizes, waves = s.hidden, s.own, s.own.waveform
    wider = Linear(d, d * sizes.squeeze_factor, True, "other")
    encoder = block(pos_conv_embed=waves.places(d), upsample=block(projection=wider))
    if sizes.disentangled is None:
        layers = stack(s.layers, lambda layer: waveform_layer(d, layer))
        encoder = altered(encoder, layer_norm=layer_norm(d), layers=layers)
    else:
        encoder = altered(encoder, encoder=_disentangled(s, sizes.disentangled))
    body = block(
        masked_spec_embed=waves.mask(d),
        feature_extractor=waves.filters(),
        layer_norm=layer_norm(waves.width),
        feature_projection=Linear(waves.width, d, True, "embedding") if waves.width != d else None,
        encoder=encoder,
    )
    return sizes.speech.heads(s, s.family.replace("-", "_"), body)


def _disentangled(s: Spec[Sew], of: Disentangled) -> Block:
    d, square = s.hidden, Linear(s.hidden, s.hidden, True)
    more = {"pos_key_proj": square if of.c2p else None, "pos_query_proj": square if of.p2c else None}
    attention = block("attention", query_proj=square, key_proj=square, value_proj=square, **more)
    out = block(dense=Linear(d, d, True, "attention"), LayerNorm=layer_norm(d))

    def layer_block(layer: Layer) -> Block:
        usual = bert_layer(d, layer.replace(cross_attention=False))
        return altered(usual, attention=block(self=attention, output=out))

    return block(
        layer=stack(s.layers, layer_block),
        rel_embeddings=embedding(2 * of.distances, d) if of.distances else None,
        LayerNorm=layer_norm(d) if of.norm_rel_ebd else None,
    )
