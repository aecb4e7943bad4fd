"""GLM-4-0414 and GLM-Z1: GLM with norms behind attention and feed-forward too (arXiv:2406.12793)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, fused_swiglu, gqa, predicting, rms_norm
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

# transformers 5.23: modeling_glm4.py, modeling_glm4v.py, modeling_glm_image.py, modeling_glm_ocr.py
# and, for the layers that predict further tokens, glm_ocr_mtp.py of vllm-project/vllm 0.33
MODEL_TYPES = ("glm4", "glm4v_text", "glm_image_text", "glm_ocr_text")


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=c.family != "glm_ocr_text")
    mixer = keys.attention(c, qkv_bias=bias, head_dim=128 if c.family == "glm4" else None)
    layer = Layer(mixer=mixer, ffn=keys.dense(c))
    ahead = keys.mtp(c, lambda: layer) if c.family == "glm_ocr_text" else {}
    return keys.decoder_spec(c, layer, parts=ahead)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        body = block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, layer.attention),
            post_self_attn_layernorm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
            mlp=fused_swiglu(d, layer.dense.width),
            post_mlp_layernorm=rms_norm(d),
        )
        return predicting(s, layer, body)

    return decoder(s, layer_block)
