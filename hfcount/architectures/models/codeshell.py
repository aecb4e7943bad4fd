"""CodeShell: GPT-2's layers with grouped queries and, as published, rotary positions (arXiv:2403.15747)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.attention import inv_freq
from hfcount.architectures.layers.classic import fused_attention, generative, positions
from hfcount.mapper import Config
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("codeshell",)  # modeling_codeshell.py of WisdomShell/codeshell, and configuration_codeshell.py there
IGNORED = ("scale_attention_softmax_in_fp32",)

_ABSENT = {"vocab_size": 70144, "n_positions": 8192, "n_embd": 4096, "n_layer": 42, "n_head": 32}
_KINDS = ("learned_absolute", "rope")


def spec(c: Config) -> Spec:
    c.assuming(_ABSENT)
    d, heads = c.int("n_embd", "hidden_size"), c.int("n_head", "num_attention_heads")
    each, grouped = keys.multi_head(c, d, heads), c.bool("group_query_attention", default=True)
    groups = c.int("num_query_groups", default=1)
    mixer = GQA(
        heads=heads,
        kv_heads=groups if grouped else heads,
        head_dim=each.head_dim,
        qkv_bias=True,
        out_bias=True,
    )
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("n_inner", default=None) or 4 * d, bias=True))
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers"))
    learned = c.choice("position_embedding_type", _KINDS, default="learned_absolute") == "learned_absolute"
    rows = c.int("n_positions", "max_position_embeddings")
    known = ("ForCausalLM", "Model")
    return keys.decoder_spec(c, layers, hidden=d, positions=rows if learned else None, tied=True, heads=known)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        rotary = inv_freq(a.head_dim) if s.positions is None else None
        return block(
            ln_1=layer_norm(d),
            attn=altered(fused_attention(d, a, "c_attn", "c_proj"), rotary_emb=rotary),
            ln_2=layer_norm(d),
            mlp=mlp(d, layer.dense.width, up="c_fc", down="c_proj"),
        )

    body = block(
        wte=embedding(s.vocab, d),
        wpe=None if s.positions is None else positions(s),
        h=stack(s.layers, layer_block),
        ln_f=layer_norm(d),
    )
    return generative(s, "transformer", body, "wte")
