"""Qwen3-TTS's codec: Mimi's encoder, and layers and convolutions that make codes into sound (arXiv:2601.15621)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.vocoders import lengthened, sampled
from hfcount.architectures.layers import altered, gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.architectures.layers.temporal import conv
from hfcount.architectures.models.mimi import Mimi
from hfcount.mapper import MAX_LAYERS, Config, Sizes, derived, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# core/tokenizer_12hz of qwen-tts 0.1.1: modeling_qwen3_tts_tokenizer_v2.py, configuration_qwen3_tts_tokenizer_v2.py
MODEL_TYPES = ("qwen3_tts_tokenizer_12hz",)
CLASSES = ("Qwen3TTSTokenizerV2Model",)
IGNORED = tuple(
    "decode_upsample_rate encode_downsample_rate encoder_valid_num_quantizers input_sample_rate"
    " output_sample_rate".split()
)


def spec(c: Config) -> Spec:
    known = keys.named(("Model",))
    keys.head_of(c, known)
    encoder = families.part(c, "encoder_config", always="mimi")
    half = encoder.having(encoder.sizes(Mimi).replace(decodes=False))
    decoder = families.part(c, "decoder_config", always="qwen3_tts_tokenizer_12hz_decoder")
    parts = {"encoder": half, "decoder": decoder}
    return keys.encoding(c, decoder.layers, {"Model": "base"}, hidden=decoder.hidden, parts=parts)


def blueprint(s: Spec) -> Block:
    return block("audio", encoder=families.tree(s.part("encoder")), decoder=families.tree(s.part("decoder")))


def _steps(c: Config, key: str) -> tuple[int, ...]:
    return tuple(keys.dim(f"s_{key[6]}{number}", step) for number, step in enumerate(c.ints(key), 1))


class Codes2Wav(Sizes):
    """Sizes specific to its decoder, beside those of its layers."""

    codebook_size: int = size("n")
    codebook_dim: int = size("d_q")
    num_quantizers: int = size("n_q", minimum=2)
    latent_dim: int = size("d_l")
    decoder_dim: int = size("C")
    upsample_rates: tuple[int, ...] = derived(lambda c: _steps(c, "upsample_rates"))
    upsampling_ratios: tuple[int, ...] = derived(lambda c: _steps(c, "upsampling_ratios"))


_ABSENT = {
    "codebook_size": 2048,
    "hidden_size": 1024,
    "latent_dim": 1024,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "intermediate_size": 3072,
    "num_hidden_layers": 8,
    "num_quantizers": 16,
    "upsample_rates": [8, 5, 4, 3],
    "upsampling_ratios": [2, 2],
    "decoder_dim": 1536,
}


def decoder_spec(c: Config) -> Spec[Codes2Wav]:
    """The decoder of Qwen3-TTS's codec: layers over its codes, then convolutions that lengthen them."""
    c = c.assuming(_ABSENT)
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c)), c.int("num_hidden_layers", maximum=MAX_LAYERS))
    return keys.encoding(c, layers, {"Decoder": "base"}, hidden=c.int("hidden_size")).having(Codes2Wav.read(c))


def decoder_blueprint(s: Spec[Codes2Wav]) -> Block:
    d, of, scale = s.hidden, s.own, block("norm", scale=Tensor((s.hidden,)))
    inner = of.codebook_dim // 2

    def layer_block(layer: Layer) -> Block:
        usual = pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))
        return altered(usual, self_attn_layer_scale=scale, mlp_layer_scale=scale)

    def quantizer(number: int) -> Block:
        table = block(cluster_usage=Tensor((of.codebook_size,)), embedding_sum=Tensor((of.codebook_size, inner)))
        into, out = Tensor((inner, of.codebook_dim, 1)), Tensor((of.codebook_dim, inner, 1))
        codes = Repeat(Indices.below(number), block(_codebook=table))
        return block(input_proj=block(weight=into), output_proj=block(weight=out), vq=block(layers=codes))

    transformer = block(
        layers=stack(s.layers, layer_block),
        norm=rms_norm(d),
        input_proj=Linear(of.latent_dim, d, True),
        output_proj=Linear(d, of.latent_dim, True),
    )
    return block(
        "audio",
        pre_transformer=transformer,
        quantizer=block(rvq_first=quantizer(1), rvq_rest=quantizer(of.num_quantizers - 1)),
        pre_conv=block(conv=conv(of.codebook_dim, of.latent_dim, 3)),
        upsample=lengthened(of.latent_dim, of.upsampling_ratios),
        decoder=sampled(of.latent_dim, of.decoder_dim, of.upsample_rates),
    )


PARTS = (
    families.Family(
        ("qwen3_tts_tokenizer_12hz_decoder",),
        decoder_spec,
        decoder_blueprint,
        ignored=("layer_scale_initial_scale",),
    ),
)
