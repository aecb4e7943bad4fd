"""SantaCoder as it was released: GPT-2 whose heads may share one key and value (arXiv:2301.03988)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import causal_mask, conv1d, generative, positions
from hfcount.mapper import Config, Sizes
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block, buffer

MODEL_TYPES = ("santacoder",)  # modeling_gpt2_mq.py of bigcode/santacoder, whose configs are of type gpt2
CLASSES = ("GPT2LMHeadCustomModel",)


class Santacoder(Sizes):
    shared: bool


def spec(c: Config) -> Spec[Santacoder]:
    c.kind = "gpt2"  # whose defaults are its own
    d, rows = c.int("n_embd", "hidden_size"), c.int("n_positions", "max_position_embeddings")
    kinds = ("multihead", "multiquery")
    sizes = Santacoder.read(c, shared=c.choice("attention_head_type", kinds, default=kinds[0]) == kinds[1])
    if c.bool("add_cross_attention", default=False):
        raise c.error(
            "not-described", "add_cross_attention is true, which is not described.", "add_cross_attention", "Drop it."
        )
    mixer = keys.multi_head(c, d, c.int("n_head", "num_attention_heads"))
    if sizes.shared:
        mixer = mixer.replace(kv_heads=1)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("n_inner", default=4 * d), bias=True))
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers"))
    heads = keys.named(LMHeadCustomModel="causal_lm")
    return keys.decoder_spec(c, layers, hidden=d, positions=rows, tied=True, heads=heads).having(sizes)


def blueprint(s: Spec[Santacoder]) -> Block:
    d, rows = s.hidden, s.positions or 0
    # This code still makes them, and transformers 5 no longer does.
    mask = {"bias": buffer(1, 1, rows, rows, whole=True), "masked_bias": Tensor((), "buffer")}

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        if s.own.shared:
            both = conv1d(d, 2 * a.kv_heads * a.head_dim)
            inner = block("attention", q_attn=conv1d(d, d), kv_attn=both, c_proj=conv1d(d, d), **mask)
        else:
            inner = block("attention", c_attn=conv1d(d, 3 * d), c_proj=conv1d(d, d), **causal_mask(rows))
        network = block("mlp", c_fc=conv1d(d, width), c_proj=conv1d(width, d))
        return block(ln_1=layer_norm(d), attn=inner, ln_2=layer_norm(d), mlp=network)

    body = block(wte=embedding(s.vocab, d), wpe=positions(s), h=stack(s.layers, layer_block), ln_f=layer_norm(d))
    return generative(s, "transformer", body, "wte")
