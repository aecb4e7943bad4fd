"""CodeGen, and MOSS that was trained on: GPT-J with fused attention (arXiv:2203.13474, arXiv:2309.15016)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import fused_attention, generative
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, block, obsolete

# transformers 5.23: modeling_codegen.py
# modeling_moss.py of OpenMOSS/MOSS, and configuration_moss.py there
MODEL_TYPES = ("codegen", "moss")
IGNORED = ("groupsize",)  # of packed weights, which wbits says there are

_MOSS = {"vocab_size": 107008, "n_positions": 2048, "n_embd": 4096, "n_layer": 28, "n_head": 16}


def spec(c: Config) -> Spec:
    if c.family == "moss":
        c.assuming(_MOSS)
        if c.int("wbits", default=32) != 32:
            text = f"wbits is {c.int('wbits')}: weights are packed in MOSS's own way, which is not described."
            raise c.error("not-described", text, "wbits")
    d = c.int("n_embd", "hidden_size")
    mixer = keys.multi_head(c, d, c.int("n_head", "num_attention_heads"), bias=False)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("n_inner", default=None) or 4 * d, bias=True))
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers"))
    rows = c.int("n_positions", "max_position_embeddings")
    return keys.decoder_spec(c, layers, hidden=d, positions=rows, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        rows = s.positions or 0
        attention = fused_attention(d, layer.attention, "qkv_proj", "out_proj").children
        return block(
            ln_1=layer_norm(d),
            attn=Block({**attention, "causal_mask": obsolete(1, 1, rows, rows, whole=True)}, "attention"),
            mlp=mlp(d, layer.dense.width, up="fc_in", down="fc_out"),
        )

    body = block(wte=embedding(s.vocab, d), h=stack(s.layers, layer_block), ln_f=layer_norm(d))
    return generative(s, "transformer", body, "wte", bias=True)
