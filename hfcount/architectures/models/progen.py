"""ProGen 2: CodeGen's layers over amino acids (arXiv:2206.13517)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import causal_mask, fused_attention
from hfcount.mapper import Config, Sizes
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# progen2/models/progen/modeling_progen.py of salesforce/progen, and of hugohrban/progen2-small, whose configs have
# embed_dim, vocab_size_emb and vocab_size_lm_head
MODEL_TYPES = ("progen",)
CLASSES = ("ProGenForCausalLM", "ProGenModel")
IGNORED = ("n_ctx",)

_ABSENT = {"n_layer": 12, "n_head": 16}


class ProGen(Sizes):
    """How many amino acids, and further tokens, the head tells."""

    told: int


def spec(c: Config) -> Spec[ProGen]:
    c.assuming(_ABSENT)
    d = c.int("embed_dim", "n_embd", "hidden_size", default=1024)
    words = c.int("vocab_size_emb", "vocab_size", default=32)
    told = c.int("vocab_size_lm_head", default=words)
    mixer = keys.multi_head(c, d, c.int("n_head"), bias=False)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("n_inner", default=None) or 4 * d, bias=True))
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer"))
    rows = c.int("n_positions", default=1024)
    model = keys.decoder_spec(c, layers, vocab=words, hidden=d, positions=rows, heads=("ForCausalLM", "Model"))
    return model.replace(tied=False).having(ProGen(told=keys.dim("|V_o|", told)))


def blueprint(s: Spec[ProGen]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        attention = fused_attention(d, layer.attention, "qkv_proj", "out_proj").children
        return block(
            ln_1=layer_norm(d),
            attn=Block({**attention, **causal_mask(s.positions or 0)}, "attention"),
            mlp=mlp(d, layer.dense.width, up="fc_in", down="fc_out"),
        )

    body = block(wte=embedding(s.vocab, d), h=stack(s.layers, layer_block), ln_f=layer_norm(d))
    if s.head == "base":
        return body
    return block(transformer=body, lm_head=Linear(d, s.own.told, True, "lm_head"))
