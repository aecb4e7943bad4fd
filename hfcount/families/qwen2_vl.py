"""Qwen2-VL: Qwen2 with a vision transformer of any resolution (arXiv:2409.12191)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import base, gqa, rms_norm, swiglu
from hfcount.parts.composite import beside
from hfcount.parts.vision_qwen import qwen2_vision
from hfcount.spec import Layer, Spec, Vision
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("qwen2_vl",)
IGNORED = ("spatial_patch_size",)


def spec(c: Config) -> Spec:
    text, eyes = c.sub("text_config") or c, c.part("vision_config")
    width = keys.seeing(eyes, "embed_dim", default=1280)
    side = eyes.int("patch_size", default=14)
    vision = Vision(
        hidden=width,
        layers=eyes.int("depth", default=32),
        width=width * eyes.int("mlp_ratio", default=4),
        patch=(eyes.int("temporal_patch_size", default=2), side, side),
        channels=eyes.int("in_channels", "in_chans", default=3),
        merge=eyes.int("spatial_merge_size", default=2),
        out=eyes.int("hidden_size"),
    )
    layer = Layer(mixer=keys.attention(text, qkv_bias=True), ffn=keys.dense(text))
    heads, windows = ("ForConditionalGeneration", "Model"), keys.sliding_later(text, first=80)
    whole = keys.decoder_spec(text, layer, whole=c, heads=heads, vision=vision, windows=windows)
    return whole.but(tied=keys.tied_anywhere(c, text))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, one.dense.width),
        )

    return beside(s, base(s, layer), visual=qwen2_vision(s.eyes))
