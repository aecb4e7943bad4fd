"""MiMo: Qwen2 with layers that predict further tokens, stored separately (arXiv:2505.07608)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import base, gqa, rms_norm, stack, swiglu, with_head
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("mimo",)  # modeling_mimo.py of XiaomiMiMo/MiMo-7B-Base
PREDICTORS = ("MiMoMTPModel", "MiMoMTP")


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, qkv_bias=c.bool("attention_bias", default=True))
    layer = Layer(mixer=mixer, ffn=keys.dense(c))
    ahead, windows = keys.drafts(c, "num_nextn_predict_layers", layer), keys.sliding_later(c, first=28)
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"), parts=ahead, windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=gqa(d, layer.attention),
            mlp=swiglu(d, layer.dense.width),
            input_layernorm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
        )

    def ahead(layer: Layer) -> Block:
        entrance = block(
            input_proj=Linear(2 * d, d),
            token_layernorm=rms_norm(d),
            hidden_layernorm=rms_norm(d),
            final_layernorm=rms_norm(d),
        )
        return Block({**layer_block(layer).children, **entrance.children}, "mtp")

    body, further = base(s.without("mtp"), layer_block), stack(s.stack("mtp"), ahead)
    return with_head(s, Block({**body.children, **({"mtp_layers": further} if further else {})}))
