"""VideoPrism's text tower: a class token behind the words (arXiv:2402.13217)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, mlp, stack
from hfcount.parts.classic import mha
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Tensor, block, buffer

MODEL_TYPES = ("videoprism_text_model",)  # transformers 5.23: modeling_videoprism.py
IGNORED = ("apply_l2norm",)


def spec(c: Config) -> Spec:
    d, bias = c.int("hidden_size"), c.bool("qkv_bias", default=True)
    heads, rows = c.int("num_attention_heads"), c.int("max_position_embeddings")
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, out_bias=True, indivisible="run", own_width=True)
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True))
    return keys.decoder_spec(c, layer, heads=("Model",), hidden=d, positions=rows).replace(causal=False, tied=False)


def blueprint(s: Spec) -> Block:
    d, rows = s.hidden, s.positions or 0

    def layer(one: Layer) -> Block:
        return block(
            attention=mha(d, one.attention, out="o_proj"),
            layernorm_before=layer_norm(d),
            layernorm_after=layer_norm(d),
            mlp=mlp(d, one.dense.width),
        )

    table = block(
        token_embedding=embedding(s.vocab, d),
        position_embedding=buffer(rows, d),
        position_ids=buffer(1, rows, whole=True),
        cls_emb=Tensor((1, 1, d), component="embedding"),
    )
    return block(embeddings=table, layers=stack(s.layers, layer), layernorm=layer_norm(d))
