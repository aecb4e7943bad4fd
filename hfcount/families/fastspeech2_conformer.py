"""FastSpeech 2 with conformers: text to a spectrogram, by predicted durations, pitch and energy (arXiv:2006.04558)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import chain, embedding, layer_norm, stack
from hfcount.parts.conformer import nemo_convolution
from hfcount.parts.convolution import batch_norm
from hfcount.parts.speech import conformer_attention, postnet_layers
from hfcount.parts.temporal import conv
from hfcount.spec import Dense, Layer, Layers, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("fastspeech2_conformer",)  # transformers 5.23: modeling_fastspeech2_conformer.py
IGNORED = tuple(
    "encoder_normalize_before decoder_normalize_before normalize_before max_source_positions use_masking"
    " use_weighted_masking stop_gradient_from_pitch_predictor stop_gradient_from_energy_predictor".split()
)

_SIZES = {
    "num_mel_bins": "b",
    "reduction_factor": "r",
    "positionwise_conv_kernel_size": "w_p",
    "speech_decoder_postnet_layers": "N_q",
    "speech_decoder_postnet_units": "d_q",
    "speech_decoder_postnet_kernel": "w_q",
    **{f"{what}_predictor_layers": f"N_{what[0]}" for what in ("duration", "pitch", "energy")},
    **{f"{what}_predictor_channels": f"C_{what[0]}" for what in ("duration", "pitch", "energy")},
    **{f"{what}_predictor_kernel_size": f"w_{what[0]}p" for what in ("duration", "pitch", "energy")},
    **{f"{what}_embed_kernel_size": f"w_{what[0]}m" for what in ("pitch", "energy")},
}

_SWITCHES = ("convolution_bias", "use_cnn_in_conformer", "use_macaron_style_in_conformer")


def spec(c: Config) -> Spec:
    traits = {key: keys.sized(letter, c.int(key, maximum=MAX_LAYERS)) for key, letter in _SIZES.items()}
    switches = {key: c.bool(key) for key in _SWITCHES}
    several = {}
    for key, letter in (("num_languages", "n_l"), ("num_speakers", "n_s"), ("speaker_embed_dim", "d_s")):
        several[key] = keys.sized(letter, c.int(key, default=0, minimum=0))
    d = c.int("hidden_size")
    parts = {"encoder": Spec(family=c.family, hidden=d, layers=_layers(c, "encoder", d), causal=False)}
    whole = keys.decoder_spec(
        c,
        _layers(c, "decoder", d),
        heads=("Model",),
        hidden=d,
        layer_count=None,
        traits={**traits, **switches, **several},
        parts=parts,
    )
    return whole.but(causal=False)


def _layers(c: Config, side: str, d: int) -> tuple[Layers, ...]:
    # What the object says counts, which is made of the keys beside it where it is absent.
    own = c.part(f"{side}_config")

    def size(key: str) -> int:
        return own.int(key, default=c.int(f"{side}_{key}", maximum=MAX_LAYERS), maximum=MAX_LAYERS)

    mixer = keys.multi_head(c, d, size("num_attention_heads"), uneven="run")
    joined = own.bool("concat_after", default=c.bool(f"{side}_concat_after"))
    traits = {"kernel_size": keys.sized("w", size("kernel_size")), "concat_after": joined}
    layer = Layer(mixer=mixer, ffn=Dense(width=size("linear_units"), bias=True), traits=traits)
    return tuple(keys.alike(layer, size("layers")))


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits
    norm, kernel = layer_norm(d), of["positionwise_conv_kernel_size"]
    curly, convolved = of["use_macaron_style_in_conformer"], of["use_cnn_in_conformer"]

    def layer(one: Layer) -> Block:
        width = one.dense.width
        network = block("mlp", conv1=conv(d, width, kernel), conv2=conv(width, d, kernel))
        convolution = nemo_convolution(d, one.traits["kernel_size"], batch_norm(d), bool(of["convolution_bias"]))
        return block(
            self_attn=conformer_attention(d, one.attention, relative=True),
            feed_forward=network,
            feed_forward_macaron=network if curly else None,
            ff_macaron_layer_norm=norm if curly else None,
            conv_module=convolution if convolved else None,
            conv_layer_norm=norm if convolved else None,
            final_layer_norm=norm if convolved else None,
            ff_layer_norm=norm,
            self_attn_layer_norm=norm,
            concat_linear=Linear(2 * d, d, True, "other") if one.traits["concat_after"] else None,
        )

    languages, speakers, speaker = of["num_languages"], of["num_speakers"], of["speaker_embed_dim"]
    return block(
        language_id_embedding=embedding(languages, d) if languages > 1 else None,
        speaker_id_embedding=embedding(speakers, d) if speakers > 1 else None,
        projection=Linear(d + speaker, d, True, "projector") if speaker else None,
        encoder=block(embed=embedding(s.vocab, d), conformer_layers=stack(s.stack("encoder"), layer)),
        duration_predictor=_predictor(s, "duration"),
        pitch_predictor=_predictor(s, "pitch"),
        pitch_embed=block("embedding", conv=conv(1, d, of["pitch_embed_kernel_size"])),
        energy_predictor=_predictor(s, "energy"),
        energy_embed=block("embedding", conv=conv(1, d, of["energy_embed_kernel_size"])),
        decoder=block(conformer_layers=stack(s.layers, layer)),
        speech_decoder_postnet=_postnet(s),
    )


def _predictor(s: Spec, what: str) -> Block:
    width, kernel = s.traits[f"{what}_predictor_channels"], s.traits[f"{what}_predictor_kernel_size"]

    def layer(left: int, right: int) -> Block:
        return block(conv=conv(left, right, kernel), layer_norm=layer_norm(right))

    layers = chain(s.hidden, width, width, s.traits[f"{what}_predictor_layers"], layer)
    return block("other", conv_layers=layers, linear=Linear(width, 1, True))


def _postnet(s: Spec) -> Block:
    out = Linear(s.hidden, s.traits["num_mel_bins"] * s.traits["reduction_factor"], True)
    return block("other", feat_out=out, layers=postnet_layers(s.traits))
