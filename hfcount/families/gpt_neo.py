"""GPT-Neo: GPT-2 with local attention in every other layer (Black et al. 2021, doi:10.5281/zenodo.5297715)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.block import Block, block
from hfcount.tree.parts import embedding, layer_norm, mlp, stack
from hfcount.tree.parts.classic import causal_mask, generative, mha, positions

MODEL_TYPES = ("gpt_neo",)


def spec(c: Config) -> Spec:
    d = c.int("hidden_size")
    mixer = keys.multi_head(c, d, c.int("num_heads", "num_attention_heads"), qkv_bias=False)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size", default=4 * d), bias=True))
    layers = keys.alike(layer, keys.layer_count(c, "num_layers", "num_hidden_layers"))
    return keys.frame(c, layers, hidden=d, positions=c.int("max_position_embeddings"), tied=True)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        attention = {**mha(d, one.attention).children, **causal_mask(s.positions or 0)}
        return block(
            ln_1=layer_norm(d),
            attn=block("attention", attention=Block(attention)),
            ln_2=layer_norm(d),
            mlp=mlp(d, one.dense.width, up="c_fc", down="c_proj"),
        )

    body = block(wte=embedding(s.vocab, d), wpe=positions(s), h=stack(s.layers, layer), ln_f=layer_norm(d))
    return generative(s, "transformer", body, "wte")
