"""SpeechT5: one transformer between prenets and postnets of speech and of text (arXiv:2110.07205)."""

from hfcount.architectures import keys
from hfcount.architectures.components.spectrograms import Postnet
from hfcount.architectures.components.speech import UNHEARD
from hfcount.architectures.components.waveforms import Waveform, waveform_layer
from hfcount.architectures.layers import altered, chain, embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.conformer import feed_forward
from hfcount.architectures.layers.conversions import WEIGHT_NORM
from hfcount.architectures.layers.seq2seq import bart_layer
from hfcount.mapper import Config, Sizes, count, part, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("speecht5",)  # transformers 5.23: modeling_speecht5.py
IGNORED = (
    *UNHEARD,
    *"guided_attention_loss_num_heads max_speech_positions max_text_positions scale_embedding".split(),
    "use_guided_attention_loss",
)
SPELLINGS = WEIGHT_NORM

_HEADS = keys.named(
    ("Model",),
    ForSpeechToText="speech_to_text",
    ForTextToSpeech="text_to_speech",
    ForSpeechToSpeech="speech_to_speech",
)


class SpeechT5(Sizes):
    waveform: Waveform | None
    distances: int = size("n_r", "encoder_max_relative_position")
    num_mel_bins: int = count("b")
    prenet_units: int = count("d_p", "speech_decoder_prenet_units")
    prenet_layers: int = count("N_p", "speech_decoder_prenet_layers")
    speaker_embedding_dim: int = count("d_s")
    reduction_factor: int = count("r")
    postnet: Postnet = part(Postnet)


def spec(c: Config) -> Spec[SpeechT5]:
    model = keys.sequence_to_sequence(c, heads=_HEADS, positions=None)
    heard = Waveform.read(c) if model.head.startswith("speech_to") else None
    return model.having(SpeechT5.read(c, waveform=heard))


def blueprint(s: Spec[SpeechT5]) -> Block:
    d, encoding = s.hidden, s.stack("encoder")
    prefix = "" if s.head == "base" else "speecht5."
    scale = block(alpha=Tensor((), component="embedding"))

    def layer_block(layer: Layer) -> Block:
        return altered(bart_layer(d, layer, True), fc1=None, fc2=None, feed_forward=feed_forward(d, layer.dense.width))

    table = embedding(2 * s.own.distances, encoding[0].layer.attention.head_dim)
    positions = block("embedding", pe_k=table)
    layers = stack(encoding, lambda layer: waveform_layer(d, layer))
    encoder = block(wrapped_encoder=block(layer_norm=layer_norm(d), layers=layers, embed_positions=positions))
    decoder = block(wrapped_decoder=block(layers=stack(s.layers, layer_block)))
    words = block(embed_tokens=embedding(s.vocab, d))
    if s.head == "base":
        return block(encoder=encoder, decoder=decoder)
    heard = _heard(d, s.own.waveform) if s.own.waveform else altered(words, encode_positions=scale)
    message = words if s.head == "speech_to_text" else altered(_said(d, s.own), encode_positions=scale)
    body = block(encoder=altered(encoder, prenet=heard), decoder=altered(decoder, prenet=message))
    head = block(lm_head=lm_head(s, f"{prefix}decoder.prenet.embed_tokens.weight"))
    text = s.head == "speech_to_text"
    after = {"text_decoder_postnet": head} if text else {"speech_decoder_postnet": _postnet(d, s.own)}
    return Block({"speecht5": body, **after})


def _heard(d: int, of: Waveform) -> Block:
    projection = block("embedding", layer_norm=layer_norm(of.width), projection=Linear(of.width, d, True))
    return block(
        masked_spec_embed=of.mask(d),
        feature_encoder=of.filters(),
        feature_projection=projection,
        pos_conv_embed=of.places(d),
    )


def _said(d: int, of: SpeechT5) -> Block:
    units, layers = of.prenet_units, of.prenet_layers
    return block(
        "embedding",
        layers=chain(of.num_mel_bins, units, units, layers, lambda left, right: Linear(left, right, True)),
        final_layer=Linear(units, d, True),
        speaker_embeds_layer=Linear(of.speaker_embedding_dim + d, d, True),
    )


def _postnet(d: int, of: SpeechT5) -> Block:
    return block(
        "other",
        feat_out=Linear(d, of.num_mel_bins * of.reduction_factor, True),
        prob_out=Linear(d, of.reduction_factor, True),
        layers=of.postnet.tensors(of.num_mel_bins),
    )
