"""SantaCoder and StarCoder: GPT-2 with multi-query attention (arXiv:2301.03988, arXiv:2305.06161)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import fused_attention, generative, positions
from hfcount.mapper import Config
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("gpt_bigcode",)  # transformers 5.23: modeling_gpt_bigcode.py
# As SantaCoder's and StarCoder's first configs have them, and transformers 5.24 reads none of these.
IGNORED = ("pad_key_length", "summary_proj_to_labels", "summary_use_proj", "validate_runner_input")


def spec(c: Config) -> Spec:
    d, heads = c.int("n_embd", "hidden_size"), c.int("n_head", "num_attention_heads")
    shared, crossed = c.bool("multi_query", default=True), c.bool("add_cross_attention", default=False)
    if shared and crossed:
        text = "add_cross_attention needs multi_query to be false."
        raise c.error("contradiction", text, "add_cross_attention", "Correct one of them.")
    each = keys.multi_head(c, d, heads)
    layer = Layer(
        mixer=GQA(
            heads=heads,
            kv_heads=Dim.named("multi_query", 1, "multi_query") if shared else heads,
            head_dim=each.head_dim,
            qkv_bias=True,
            out_bias=True,
        ),
        ffn=Dense(width=c.int("n_inner", default=4 * d), bias=True),
        cross_attention=crossed,
    )
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers"))
    rows = c.int("n_positions", "max_position_embeddings")
    heads_known = ("ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification", "LMHeadModel")
    why = keys.ACROSS if crossed else ""
    return keys.decoder_spec(c, layers, hidden=d, positions=rows, tied=True, heads=heads_known, uncounted=why)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        crossed, square = layer.cross_attention, Linear(d, d, True)
        across = block("attention", c_attn=Linear(d, 2 * d, True), q_attn=square, c_proj=square)
        return block(
            ln_1=layer_norm(d),
            attn=fused_attention(d, layer.attention, "c_attn", "c_proj"),
            ln_2=layer_norm(d),
            crossattention=across if crossed else None,
            ln_cross_attn=layer_norm(d) if crossed else None,
            mlp=mlp(d, layer.dense.width, up="c_fc", down="c_proj"),
        )

    body = block(wte=embedding(s.vocab, d), wpe=positions(s), h=stack(s.layers, layer_block), ln_f=layer_norm(d))
    return generative(s, "transformer", body, "wte")
