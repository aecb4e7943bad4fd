"""GLM-4.1V: GLM-4 with a norm behind each branch too, and a vision transformer (arXiv:2507.01006)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import base, fused_swiglu, gqa, rms_norm
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = (
    "glm4v",
    "glm46v",
    "glmga",
)  # transformers 5.23: modeling_glm4v.py, modeling_glm46v.py, modular_glmga.py


def spec(c: Config) -> Spec:
    text, towers = c.part("text_config"), {"vision": families.part(c, "vision_config")}
    layer = Layer(mixer=keys.attention(text, qkv_bias=True, derived=True), ffn=keys.dense(text))
    model = keys.decoder_spec(text, layer, whole=c, heads=("ForConditionalGeneration", "Model"), parts=towers)
    return model.replace(tied=keys.tied_anywhere(c, text))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, layer.attention),
            post_self_attn_layernorm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
            mlp=fused_swiglu(d, layer.dense.width),
            post_mlp_layernorm=rms_norm(d),
        )

    return towers_in_model(s, base(s, layer_block), visual=families.tower(s, "vision"))
