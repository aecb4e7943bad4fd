"""Ouro: layers with norms around each part, which a token passes several times (arXiv:2510.25741)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, base, gqa, rms_norm, swiglu, with_head
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# modeling_ouro.py of ByteDance/Ouro-1.4B, ouro.py of vllm-project/vllm 0.20
MODEL_TYPES = ("ouro",)
IGNORED = ("early_exit_threshold",)


def spec(c: Config) -> Spec:
    times = c.int("total_ut_steps", default=4, minimum=1, maximum=1_000)
    layer = Layer(mixer=keys.attention(c, alone=True), ffn=keys.dense(c), repeats=times)
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        body = block(
            input_layernorm=norm,
            self_attn=gqa(d, layer.attention),
            input_layernorm_2=norm,
            post_attention_layernorm=norm,
            mlp=swiglu(d, layer.dense.width),
            post_attention_layernorm_2=norm,
        )
        return body.replace(repeats=layer.repeats)

    return with_head(s, altered(base(s, layer_block), early_exit_gate=Linear(d, 1, True, "other")))
