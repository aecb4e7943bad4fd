"""Apertus: an ungated feed-forward network whose activation is trained too (arXiv:2509.14233)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, mlp, rms_norm
from hfcount.parts.layers import altered, xielu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("apertus",)


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, bias=bias, qk_norm=True, kv_heads_optional=True)
    trained = c.str("hidden_act", default="xielu") == "xielu"
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c), traits={"xielu": int(trained)}))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        act = xielu() if one.traits["xielu"] else None
        return block(
            attention_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            feedforward_layernorm=rms_norm(d),
            mlp=altered(mlp(d, one.dense.width, one.dense.bias, "up_proj", "down_proj"), act_fn=act),
        )

    return decoder(s, layer)
