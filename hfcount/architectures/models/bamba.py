"""Bamba: Mamba-2 with attention in a few layers (model card of ibm-ai-platform/Bamba-9B-v2)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, gqa, rms_norm, stack, swiglu, with_head
from hfcount.architectures.layers.mixers import mamba2
from hfcount.mapper import Config
from hfcount.spec import SSM, Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("bamba",)  # transformers 5.23: modeling_bamba.py


def spec(c: Config) -> Spec:
    full = keys.attention(c, bias=c.bool("attention_bias", default=False))
    attending = keys.numbered(c, "attn_layer_indices")
    mixers = keys.mixed(c, full, keys.mamba2(c), [], attending)
    ffn = keys.dense(c, bias=c.bool("mlp_bias", default=False))
    layers = keys.combined(mixers, keys.uniform(Layer(ffn=ffn), keys.layer_count(c)))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        ssm = mamba2(d, layer.mixer) if isinstance(layer.mixer, SSM) else None
        return block(
            input_layernorm=rms_norm(d),
            mamba=ssm,
            self_attn=None if ssm else gqa(d, layer.attention),
            pre_ff_layernorm=rms_norm(d),
            feed_forward=swiglu(d, layer.dense.width, layer.dense.bias),
        )

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), final_layernorm=rms_norm(d))
    return with_head(s, body)
