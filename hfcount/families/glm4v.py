"""GLM-4.1V: GLM-4 with a norm behind each branch too, and a vision transformer (arXiv:2507.01006)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import base, fused_swiglu, gqa, rms_norm
from hfcount.parts.composite import joined
from hfcount.parts.vision_qwen import glm4v_vision
from hfcount.spec import Layer, Spec, Vision
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("glm4v",)

# What absent keys of vision_config mean: transformers 5.23, configuration_glm4v.py.
_TOWER = {
    "depth": 24,
    "hidden_size": 1536,
    "num_heads": 12,
    "in_channels": 3,
    "image_size": 336,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "out_hidden_size": 4096,
    "intermediate_size": 13696,
}


def spec(c: Config) -> Spec:
    text, eyes = c.part("text_config"), c.part("vision_config", defaults=_TOWER)
    side, out = eyes.int("patch_size"), eyes.int("out_hidden_size")
    along = eyes.int("image_size") // side
    vision = Vision(
        hidden=keys.seeing(eyes),
        layers=eyes.int("depth", maximum=MAX_LAYERS),
        width=out,
        patch=(eyes.int("temporal_patch_size"), side, side),
        channels=eyes.int("in_channels"),
        positions=along * along,
        merge=eyes.int("spatial_merge_size"),
        out=out,
        traits={
            "intermediate_size": eyes.int("intermediate_size"),
            "attention_bias": int(eyes.bool("attention_bias", default=False)),
        },
    )
    layer = Layer(mixer=keys.attention(text, qkv_bias=True), ffn=keys.dense(text))
    whole = keys.decoder_spec(text, layer, whole=c, heads=("ForConditionalGeneration", "Model"), vision=vision)
    return whole.but(tied=keys.tied_anywhere(c, text))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_self_attn_layernorm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
            mlp=fused_swiglu(d, one.dense.width),
            post_mlp_layernorm=rms_norm(d),
        )

    sizes = s.eyes.traits
    tower = glm4v_vision(s.eyes, sizes["intermediate_size"], bool(sizes["attention_bias"]))
    return joined(s, base(s, layer), visual=tower)
