"""The first Qwen: Llama with fused attention and early tensor names (arXiv:2309.16609)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import embedding, fused_qkv, rms_norm, stack, with_head
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("qwen",)  # modeling_qwen.py of Qwen/Qwen-7B
IGNORED = ("bf16", "fp16", "fp32", "image_start_id", "use_dynamic_ntk", "use_flash_attn", "use_logn_attn")


def spec(c: Config) -> Spec:
    heads = c.int("num_attention_heads", "n_head")
    hidden, bias = c.int("hidden_size", "n_embd"), not c.bool("no_bias", default=True)
    width = c.int("intermediate_size", "ffn_hidden_size")
    if width % 2:
        raise c.error(f"intermediate_size {width:,} counts two projections, and must be even.", "intermediate_size")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("kv_channels", default=128), qkv_bias=True, out_bias=bias)
    depth = keys.layer_count(c, "num_hidden_layers", "n_layer")
    layers = keys.uniform(Layer(mixer=mixer, ffn=Dense(width=width // 2, bias=bias)), depth)
    towers = {"vision": families.part(c, "visual", "qwen_vl_vision")} if c.sub("visual") else {}
    # If a config gives both, the table has as many rows as the padded vocabulary.
    vocab = c.int("padded_vocab_size", default=None) or c.int("vocab_size")
    return keys.decoder_spec(c, layers, heads=("LMHeadModel", "Model"), vocab=vocab, hidden=hidden, parts=towers)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a, ffn = one.attention, one.dense
        return block(
            ln_1=rms_norm(d),
            attn=block("attention", c_attn=fused_qkv(d, a), c_proj=Linear(a.heads * a.head_dim, d, a.out_bias)),
            ln_2=rms_norm(d),
            mlp=block(
                "mlp",
                w1=Linear(d, ffn.width, ffn.bias),
                w2=Linear(d, ffn.width, ffn.bias),
                c_proj=Linear(ffn.width, d, ffn.bias),
            ),
        )

    visual = families.tower(s, "vision") if "vision" in s.parts else None
    body = block(wte=embedding(s.vocab, d), h=stack(s.layers, layer), ln_f=rms_norm(d), visual=visual)
    return with_head(s, body, prefix="transformer", table="wte")
