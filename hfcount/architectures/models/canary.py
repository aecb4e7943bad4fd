"""Canary: a FastConformer before a transformer that writes what was said (arXiv:2406.19674)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, mlp, stack
from hfcount.architectures.layers.classic import mha
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("canary",)  # transformers 5.23: modeling_canary.py


def spec(c: Config) -> Spec:
    text, parts = families.part(c, "decoder_config"), {"encoder": families.part(c, "encoder_config")}
    c.int("vocab_size", default=None)  # the decoder's
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, parts, key="decoder_config", tied=True, heads=heads)


def blueprint(s: Spec) -> Block:
    body = block(encoder=families.tree(s.part("encoder")), decoder=families.base(s))
    table = "model.decoder.embed_tokens.weight"
    return body if s.head == "base" else block(model=body, proj_out=lm_head(s, table, bias=True))


def decoder_spec(c: Config) -> Spec:
    """Canary's decoder: a transformer that reads what a FastConformer heard (arXiv:2406.19674)."""
    keys.divides(c, "num_attention_heads", c.int("num_attention_heads"), "hidden_size", c.int("hidden_size"))
    mixer, ffn = keys.attention(c, bias=c.bool("attention_bias")), keys.dense(c, bias=True)
    heads = keys.named(Decoder="base")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=ffn), heads=heads, uncounted=keys.ACROSS)


def decoder_blueprint(s: Spec) -> Block:
    d, norm = s.hidden, layer_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        attention = mha(d, layer.attention, "o_proj")
        return block(
            self_attn=attention,
            encoder_attn=attention,
            mlp=mlp(d, layer.dense.width),
            **dict.fromkeys(("input_layernorm", "post_attention_layernorm", "final_layernorm"), norm),
        )

    table = embedding(s.vocab, d)
    return block(embed_tokens=table, layers=stack(s.layers, layer_block), norm=norm, embedding_layernorm=norm)


PARTS = (families.Family(("canary_decoder",), decoder_spec, decoder_blueprint),)
