"""Refact: one head of keys and values for all, a gated network, and norms without biases (card of Refact-1_6B-fim)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.nodes import Block, Linear, block

# modeling_gpt_refact.py of smallcloudai/Refact-1_6B-fim, whose names conversion/refact.py of ggml-org/llama.cpp reads
MODEL_TYPES = ("gpt_refact",)
CLASSES = ("GPTRefactForCausalLM", "GPTRefactModel")
IGNORED = (
    *("inference_runner", "max_batch_size", "max_sequence_length", "multi_query", "n_positions"),
    *("pad_key_length", "pre_allocate_kv_cache", "scale_attention_softmax_in_fp32", "validate_runner_input"),
)

_ABSENT = {"vocab_size": 49216, "n_embd": 768, "n_layer": 12, "n_head": 12}
_STEP = 256


def spec(c: Config) -> Spec:
    c.assuming(_ABSENT)
    d, heads = c.int("n_embd"), c.int("n_head")
    inner = c.int("n_inner", default=None)
    wide = 4 * int(d) if inner is None else int(inner)
    whole = "8 · {n_embd} / 3" if inner is None else "2 · {n_inner} / 3"
    rule = f"{whole}, rounded down, rounded up to {_STEP}"
    width = keys.derived_dim(c, "d_ff", round_up(int(2 * wide / 3), _STEP), rule)
    mixer = keys.multi_head(c, d, heads, bias=False).replace(kv_heads=1)
    layers = keys.uniform(Layer(mixer=mixer, ffn=Dense(width=width)), keys.layer_count(c, "n_layer"))
    return keys.decoder_spec(c, layers, hidden=d, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d, norm = s.hidden, layer_norm(s.hidden, bias=False)

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        shared = Linear(d, 2 * (a.kv_heads * a.head_dim))
        return block(
            ln_1=norm,
            attn=block("attention", q=Linear(d, d), kv=shared, c_proj=Linear(d, d)),
            ln_2=norm,
            mlp=block("mlp", gate_up_proj=Linear(d, 2 * width), c_proj=Linear(width, d)),
        )

    body = block(wte=embedding(s.vocab, d), h=stack(s.layers, layer_block))
    if s.head == "base":
        return body
    return block(transformer=body, ln_f=norm, lm_head=lm_head(s, "transformer.wte.weight"))
