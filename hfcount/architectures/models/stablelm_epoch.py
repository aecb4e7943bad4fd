"""StableLM as first published: Llama with LayerNorm (model card of stabilityai/stablelm-3b-4e1t)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, layer_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("stablelm_epoch",)  # modeling_stablelm_epoch.py of stabilityai/stablelm-3b-4e1t
IGNORED = ("num_heads",)


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, qkv_bias=c.bool("use_qkv_bias", default=False), indivisible="refused", derived=True)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=gqa(d, layer.attention),
            mlp=swiglu(d, layer.dense.width),
            input_layernorm=layer_norm(d),
            post_attention_layernorm=layer_norm(d),
        )

    return decoder(s, layer_block, norm=layer_norm(d))
