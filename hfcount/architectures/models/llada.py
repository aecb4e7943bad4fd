"""LLaDA: Llama's layers under OLMo's names, whose tokens see all others (arXiv:2502.09992)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, lm_head, rms_norm, stack
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("llada",)  # modeling_llada.py of GSAI-ML/LLaDA-8B-Instruct
IGNORED = ("attention_layer_norm_with_affine", "flash_attention", "rope_full_precision", "scale_logits")

# configuration_llada.py of GSAI-ML/LLaDA-8B-Instruct: what the published models leave or set otherwise.
_SWITCHES = {
    "rope": True,
    "alibi": False,
    "layer_norm_with_affine": True,
    "attention_layer_norm": False,
    "bias_for_layer_norm": False,
    "input_emb_norm": False,
}


def spec(c: Config) -> Spec:
    plain = (
        c.str("block_type", default="sequential") == "llama",
        c.str("layer_norm_type", default="default") == "rms",
        c.str("activation_type", default="swiglu") in ("silu", "gelu", "relu"),  # swiglu halves the width
        c.int("block_group_size", default=1) == 1,
        *(c.bool(key, default=not usual if key == "rope" else usual) is usual for key, usual in _SWITCHES.items()),
    )
    if not all(plain):
        raise UnknownArchitecture(f"{c.where}: llada is described with Llama's layers, as they were published, alone.")
    d, heads, bias = c.int("d_model"), c.int("n_heads"), c.bool("include_bias", default=False)
    head_dim = keys.divides(c, "n_heads", heads, "d_model", d)
    groups = heads if c.is_null("n_kv_heads") else c.int("n_kv_heads")
    kv_heads = 1 if c.bool("multi_query_attention", default=False) else groups
    mixer = GQA(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        qkv_bias=bias or c.bool("include_qkv_bias", default=False),
        out_bias=bias,
    )
    wide = c.int("mlp_hidden_size", default=None) or c.int("mlp_ratio", default=4) * d
    layers = keys.uniform(Layer(mixer=mixer, ffn=Dense(width=wide, bias=bias)), c.int("n_layers", maximum=MAX_LAYERS))
    rows = c.int("embedding_size", default=None) or c.int("vocab_size")
    known, tied = keys.named(ModelLM="causal_lm"), c.bool("weight_tying", default=True)
    model = keys.decoder_spec(c, layers, hidden=d, vocab=rows, heads=known)
    return model.replace(tied=tied, causal=False)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, width, bias = layer.attention, layer.dense.width, layer.dense.bias
        shared, wide = Linear(d, a.kv_heads * a.head_dim, a.qkv_bias, "attention"), Linear(d, width, bias, "mlp")
        return block(
            attn_norm=rms_norm(d),
            q_proj=Linear(d, d, a.qkv_bias, "attention"),
            k_proj=shared,
            v_proj=shared,
            attn_out=Linear(d, d, a.out_bias, "attention"),
            ff_norm=rms_norm(d),
            ff_proj=wide,
            up_proj=wide,
            ff_out=Linear(width, d, bias, "mlp"),
        )

    head = None if s.tied else lm_head(s, "", s.layers[0].layer.dense.bias)
    table = embedding(s.vocab, d)
    return block(
        model=block(transformer=block(wte=table, blocks=stack(s.layers, layer_block), ln_f=rms_norm(d), ff_out=head))
    )
