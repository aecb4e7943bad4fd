"""FastSpeech 2 with conformers: text to a spectrogram, by predicted durations, pitch and energy (arXiv:2006.04558)."""

from typing import Self

from hfcount.architectures import families, keys
from hfcount.architectures.components.spectrograms import Postnet
from hfcount.architectures.layers import chain, embedding, layer_norm, stack
from hfcount.architectures.layers.conformer import conformer_attention, nemo_convolution
from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, flag, part, size
from hfcount.spec import Dense, Layer, Layers, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("fastspeech2_conformer",)  # transformers 5.23: modeling_fastspeech2_conformer.py
IGNORED = tuple(
    "encoder_normalize_before decoder_normalize_before normalize_before max_source_positions use_masking"
    " use_weighted_masking stop_gradient_from_pitch_predictor stop_gradient_from_energy_predictor".split()
)


class Predictor(Record):
    """Convolutions that predict a number for each token."""

    layers: int
    channels: int
    kernel: int


class Predictors(Record):
    """What is predicted."""

    duration: Predictor
    pitch: Predictor
    energy: Predictor

    @classmethod
    def read(cls, c: Config) -> Self:
        """Their sizes."""

        def sizes(end: str, symbol: str) -> list[int]:
            names = ("duration", "pitch", "energy")
            depths = [c.int(f"{name}_predictor_{end}", maximum=MAX_LAYERS) for name in names]
            return [keys.dim(symbol.format(name[0]), depth) for name, depth in zip(names, depths, strict=True)]

        every = zip(sizes("layers", "N_{}"), sizes("channels", "C_{}"), sizes("kernel_size", "w_{}p"), strict=True)
        duration, pitch, energy = (Predictor(layers=n, channels=wide, kernel=kernel) for n, wide, kernel in every)
        return cls(duration=duration, pitch=pitch, energy=energy)


class FastSpeech2(Sizes):
    num_mel_bins: int = count("b")
    reduction_factor: int = count("r")
    positionwise_conv_kernel_size: int = count("w_p")
    postnet: Postnet = part(Postnet)
    predictors: Predictors = part(Predictors)
    pitch_embed_kernel_size: int = count("w_pm")
    energy_embed_kernel_size: int = count("w_em")
    convolution_bias: bool = flag()
    use_cnn_in_conformer: bool = flag()
    use_macaron_style_in_conformer: bool = flag()
    num_languages: int = size("n_l", absent=0, minimum=0)
    num_speakers: int = size("n_s", absent=0, minimum=0)
    speaker_embed_dim: int = size("d_s", absent=0, minimum=0)


class FastSpeech2Layer(Record):
    kernel_size: int
    concat_after: bool


def spec(c: Config) -> Spec[FastSpeech2]:
    sizes, d = FastSpeech2.read(c), c.int("hidden_size")
    parts = {"encoder": Spec(family=c.family, hidden=d, layers=_layers(c, "encoder", d), causal=False)}
    layers = _layers(c, "decoder", d)
    model = keys.decoder_spec(c, layers, heads=("Model",), hidden=d, layer_count=None, parts=parts)
    return model.replace(causal=False).having(sizes)


def _layers(c: Config, side: str, d: int) -> tuple[Layers, ...]:
    # What the object says counts, which is made of the keys beside it where it is absent.
    inner = c.part(f"{side}_config")

    def text(key: str) -> int:
        return inner.int(key, default=c.int(f"{side}_{key}", maximum=MAX_LAYERS), maximum=MAX_LAYERS)

    mixer = keys.multi_head(c, d, text("num_attention_heads"), indivisible="run")
    joined = inner.bool("concat_after", default=c.bool(f"{side}_concat_after"))
    sizes = FastSpeech2Layer(kernel_size=keys.dim("w", text("kernel_size")), concat_after=joined)
    layer = Layer(mixer=mixer, ffn=Dense(width=text("linear_units"), bias=True), own=sizes)
    return tuple(keys.uniform(layer, text("layers")))


def blueprint(s: Spec[FastSpeech2]) -> Block:
    d, of = s.hidden, s.own
    norm, kernel = layer_norm(d), of.positionwise_conv_kernel_size
    curly, convolved = of.use_macaron_style_in_conformer, of.use_cnn_in_conformer

    def layer_block(layer: Layer) -> Block:
        width, sizes = layer.dense.width, layer.sizes(FastSpeech2Layer)
        network = block("mlp", conv1=conv(d, width, kernel), conv2=conv(width, d, kernel))
        convolution = nemo_convolution(d, sizes.kernel_size, batch_norm(d), of.convolution_bias)
        return block(
            self_attn=conformer_attention(d, layer.attention, relative=True),
            feed_forward=network,
            feed_forward_macaron=network if curly else None,
            ff_macaron_layer_norm=norm if curly else None,
            conv_module=convolution if convolved else None,
            conv_layer_norm=norm if convolved else None,
            final_layer_norm=norm if convolved else None,
            ff_layer_norm=norm,
            self_attn_layer_norm=norm,
            concat_linear=Linear(2 * d, d, True, "other") if sizes.concat_after else None,
        )

    languages, speakers, speaker = of.num_languages, of.num_speakers, of.speaker_embed_dim
    bins = of.num_mel_bins
    return block(
        language_id_embedding=embedding(languages, d) if languages > 1 else None,
        speaker_id_embedding=embedding(speakers, d) if speakers > 1 else None,
        projection=Linear(d + speaker, d, True, "projector") if speaker else None,
        encoder=block(embed=embedding(s.vocab, d), conformer_layers=stack(s.stack("encoder"), layer_block)),
        duration_predictor=_predictor(d, of.predictors.duration),
        pitch_predictor=_predictor(d, of.predictors.pitch),
        pitch_embed=block("embedding", conv=conv(1, d, of.pitch_embed_kernel_size)),
        energy_predictor=_predictor(d, of.predictors.energy),
        energy_embed=block("embedding", conv=conv(1, d, of.energy_embed_kernel_size)),
        decoder=block(conformer_layers=stack(s.layers, layer_block)),
        speech_decoder_postnet=block(
            "other", feat_out=Linear(d, bins * of.reduction_factor, True), layers=of.postnet.tensors(bins)
        ),
    )


def _predictor(d: int, of: Predictor) -> Block:
    def layer(left: int, right: int) -> Block:
        return block(conv=conv(left, right, of.kernel), layer_norm=layer_norm(right))

    layers = chain(d, of.channels, of.channels, of.layers, layer)
    return block("other", conv_layers=layers, linear=Linear(of.channels, 1, True))


def spoken_spec(c: Config) -> Spec:
    """FastSpeech 2 with conformers, and the vocoder that makes a waveform of its spectrograms (arXiv:2006.04558)."""
    text, parts = families.part(c, "model_config"), {"vocoder": families.part(c, "vocoder_config")}
    heads = keys.named(WithHifiGan="base")
    return keys.composite(c, text, parts, key="model_config", heads=heads).replace(tied=False)


def spoken_blueprint(s: Spec) -> Block:
    return block(model=families.base(s), vocoder=families.tree(s.part("vocoder")))


PARTS = (families.Family(("fastspeech2_conformer_with_hifigan",), spoken_spec, spoken_blueprint),)
