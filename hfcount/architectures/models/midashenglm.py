"""MiDashengLM: Dasheng's encoder of sounds before the text model of Qwen2.5-Omni (arXiv:2508.03983)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.vision import fused_square_attention
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# midashenglm.py of vllm-project/vllm 0.33.0, its model and its config, which are those of mispeech/midashenglm-7b
MODEL_TYPES = ("midashenglm",)
CLASSES = ("MiDashengLMModel",)
IGNORED = tuple("attn_drop_rate center drop_rate f_max f_min hop_length n_fft outputdim sample_rate win_length".split())


class MiDashengLm(Sizes):
    """How many frames are joined."""

    subsample_factor: int = size("m")


def spec(c: Config) -> Spec[MiDashengLm]:
    c.assuming({"subsample_factor": 5})
    text = families.part(c, "text_config", "qwen2_5_omni_text").replace(head="causal_lm")
    audio = families.part(c, "audio_encoder_config", "midashenglm_dasheng_encoder")
    model = keys.composite(c, text, {"audio": audio}, heads=keys.named(("Model",)))
    return model.replace(tied=text.tied).having(MiDashengLm.read(c))


def blueprint(s: Spec[MiDashengLm]) -> Block:
    d, heard = s.hidden, s.part("audio").hidden
    network = Block({"0": Linear(s.own.subsample_factor * heard, d, True), "2": Linear(d, d, True)})
    return block(
        audio_encoder=families.tower(s, "audio"),
        audio_projector=Block({"net": network}, "projector", 0),
        decoder=rebased(families.tree(s.part("text")), "decoder"),
    )


class Dasheng(Sizes):
    """Sizes specific to Dasheng's encoder, whose patches lie at so many `rows` of pitches and `columns` of frames."""

    n_mels: int = size("b")
    input_channels: int = size("c_i")
    patch: tuple[int, ...]
    rows: int
    columns: int
    qkv_bias: bool = flag(absent=True)
    scaled: bool


_ABSENT = {
    "embed_dim": 768,
    "patch_size": 16,
    "patch_stride": 16,
    "input_channels": 1,
    "target_length": 1012,
    "depth": 12,
    "num_heads": 12,
    "mlp_ratio": 4.0,
    "n_mels": 64,
}


def encoder_spec(c: Config) -> Spec[Dasheng]:
    """Dasheng: a vision transformer of spectrograms, with places by pitch and by frame apart (arXiv:2406.06992)."""
    c.assuming(_ABSENT)
    patch, stride = _both(c, "patch_size"), _both(c, "patch_stride")
    sides = []
    listed = isinstance(c.value("patch_stride"), list)
    for place, (key, step) in enumerate(zip(("n_mels", "target_length"), stride, strict=True)):
        extent = c.int(key)
        if extent < step:
            message = f"{key} is {extent:,}, less than patch_stride, {step:,}."
            raise c.error("out-of-range", message, key)
        rule = f"{{{key}}} / {{patch_stride}}{f'[{place}]' if listed else ''}, rounded down"
        sides.append(keys.derived_dim(c, f"n_{key[0]}", extent // step, rule))
    d = c.int("embed_dim")
    ffn = Dense(width=keys.dim("d_ff", c.times("mlp_ratio", d)), bias=True)
    scaled = c.number("init_values", default=None, zero=True)
    sizes = Dasheng.read(c, patch=patch, rows=sides[0], columns=sides[1], scaled=bool(scaled))
    return keys.tower(c, ffn=ffn, heads=("num_heads",), depth=("depth",), hidden=d).having(sizes)


def _both(c: Config, key: str) -> tuple[int, int]:
    """A size of both sides, or a list of two."""
    if not isinstance(c.value(key), list):
        side = c.int(key)
        return side, side
    high, wide = c.ints(key, least=2, minimum=1)[:2]
    return high, wide


def encoder_blueprint(s: Spec[Dasheng]) -> Block:
    d, of = s.hidden, s.own
    scale = block("norm", gamma=Tensor((d,))) if of.scaled else None

    def layer_block(layer: Layer) -> Block:
        return block(
            norm1=layer_norm(d),
            attn=fused_square_attention(d, of.qkv_bias, True),
            ls1=scale,
            norm2=layer_norm(d),
            mlp=mlp(d, layer.dense.width),
            ls2=scale,
        )

    patches = block("embedding", weight=Tensor((d, of.input_channels, *of.patch)), bias=Tensor((d,)))
    return block(
        init_bn=batch_norm(of.n_mels),
        patch_embed=block(proj=patches),
        time_pos_embed=Tensor((1, d, 1, of.columns), component="embedding"),
        freq_pos_embed=Tensor((1, d, of.rows, 1), component="embedding"),
        blocks=stack(s.layers, layer_block),
        norm=layer_norm(d),
    )


PARTS = (families.Family(("midashenglm_dasheng_encoder",), encoder_spec, encoder_blueprint),)
