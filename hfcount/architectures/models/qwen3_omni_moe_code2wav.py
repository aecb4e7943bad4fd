"""Qwen3-Omni's vocoder: layers over embedded codes, then convolutions that lengthen them (arXiv:2509.17765)."""

from hfcount.architectures import keys
from hfcount.architectures.components.vocoders import lengthened, sampled
from hfcount.architectures.layers import altered, embedding, gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.mapper import MAX_LAYERS, Config, Sizes, derived, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("qwen3_omni_moe_code2wav",)  # transformers 5.23: modeling_qwen3_omni_moe.py


def _steps(c: Config, key: str) -> tuple[int, ...]:
    return tuple(keys.dim(f"s_u{number}", step) for number, step in enumerate(c.ints(key), 1))


class Code2Wav(Sizes):
    """Sizes specific to Qwen3-Omni's vocoder; `rows` are those of the table of all codes."""

    rows: int = derived(lambda c: c.int("codebook_size") * c.int("num_quantizers"))
    decoder_dim: int = size("C")
    upsample_rates: tuple[int, ...] = derived(lambda c: _steps(c, "upsample_rates"))
    upsampling_ratios: tuple[int, ...] = derived(lambda c: _steps(c, "upsampling_ratios"))


def spec(c: Config) -> Spec[Code2Wav]:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    sizes = Code2Wav.read(c)
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c)), c.int("num_hidden_layers", maximum=MAX_LAYERS))
    return keys.encoding(c, layers, {"Code2Wav": "base"}, hidden=c.int("hidden_size")).having(sizes)


def blueprint(s: Spec[Code2Wav]) -> Block:
    d, of, scale = s.hidden, s.own, block("norm", scale=Tensor((s.hidden,)))

    def layer_block(layer: Layer) -> Block:
        usual = pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))
        return altered(usual, self_attn_layer_scale=scale, mlp_layer_scale=scale)

    transformer = block(layers=stack(s.layers, layer_block), norm=rms_norm(d))
    table = embedding(of.rows, d)
    return block(
        "audio",
        pre_transformer=transformer,
        code_embedding=table,
        upsample=lengthened(d, of.upsampling_ratios),
        decoder=sampled(d, of.decoder_dim, of.upsample_rates),
    )
