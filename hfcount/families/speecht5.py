"""SpeechT5: one transformer between prenets and postnets of speech and of text (arXiv:2110.07205)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import altered, chain, embedding, layer_norm, lm_head, stack
from hfcount.parts.audio import filters, last_filter, masked, places, waveform_layer
from hfcount.parts.conversions import WEIGHT_NORM
from hfcount.parts.seq2seq import bart_layer
from hfcount.parts.speech import feed_forward, postnet_layers
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("speecht5",)  # transformers 5.23: modeling_speecht5.py
IGNORED = (
    *keys.UNHEARD,
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


def spec(c: Config) -> Spec:
    traits = keys.waveform(c) | {"distances": keys.sized("n_r", c.int("encoder_max_relative_position"))}
    for name, letter in _SIZES.items():
        traits[name] = keys.sized(letter, c.int(name, maximum=MAX_LAYERS))
    return keys.sequence_to_sequence(c, heads=_HEADS, positions=None, traits=traits)


_SIZES = {
    "num_mel_bins": "b",
    "speech_decoder_prenet_units": "d_p",
    "speech_decoder_prenet_layers": "N_p",
    "speaker_embedding_dim": "d_s",
    "reduction_factor": "r",
    "speech_decoder_postnet_layers": "N_q",
    "speech_decoder_postnet_units": "d_q",
    "speech_decoder_postnet_kernel": "w_q",
}


def blueprint(s: Spec) -> Block:
    d, of, encoding = s.hidden, s.traits, s.stack("encoder")
    prefix = "" if s.head == "base" else "speecht5."
    scale = block(alpha=Tensor((), component="embedding"))

    def layer(one: Layer) -> Block:
        return altered(bart_layer(d, one, True), fc1=None, fc2=None, feed_forward=feed_forward(d, one.dense.width))

    positions = block("embedding", pe_k=embedding(2 * of["distances"], encoding[0].layer.attention.head_dim))
    layers = stack(encoding, lambda one: waveform_layer(d, one))
    encoder = block(wrapped_encoder=block(layer_norm=layer_norm(d), layers=layers, embed_positions=positions))
    decoder = block(wrapped_decoder=block(layers=stack(s.layers, layer)))
    words = block(embed_tokens=embedding(s.vocab, d))
    if s.head == "base":
        return block(encoder=encoder, decoder=decoder)
    heard = _heard(s) if s.head.startswith("speech_to") else altered(words, encode_positions=scale)
    said = words if s.head == "speech_to_text" else altered(_said(s), encode_positions=scale)
    body = block(encoder=altered(encoder, prenet=heard), decoder=altered(decoder, prenet=said))
    head = block(lm_head=lm_head(s, f"{prefix}decoder.prenet.embed_tokens.weight"))
    text = s.head == "speech_to_text"
    after = {"text_decoder_postnet": head} if text else {"speech_decoder_postnet": _postnet(s)}
    return Block({"speecht5": body, **after})


def _heard(s: Spec) -> Block:
    before = last_filter(s)
    projection = block("embedding", layer_norm=layer_norm(before), projection=Linear(before, s.hidden, True))
    return block(
        masked_spec_embed=masked(s),
        feature_encoder=filters(s),
        feature_projection=projection,
        pos_conv_embed=places(s),
    )


def _said(s: Spec) -> Block:
    d, of, units = s.hidden, s.traits, s.traits["speech_decoder_prenet_units"]
    count = of["speech_decoder_prenet_layers"]
    return block(
        "embedding",
        layers=chain(of["num_mel_bins"], units, units, count, lambda left, right: Linear(left, right, True)),
        final_layer=Linear(units, d, True),
        speaker_embeds_layer=Linear(of["speaker_embedding_dim"] + d, d, True),
    )


def _postnet(s: Spec) -> Block:
    d, of = s.hidden, s.traits
    return block(
        "other",
        feat_out=Linear(d, of["num_mel_bins"] * of["reduction_factor"], True),
        prob_out=Linear(d, of["reduction_factor"], True),
        layers=postnet_layers(of),
    )
