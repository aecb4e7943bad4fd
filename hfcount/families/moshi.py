"""Moshi, only its language model: gate and up in one projection, one more token than it predicts (arXiv:2410.00037)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, lm_head, pre_norm, rms_norm, stack
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("moshi",)  # transformers 5.23: modeling_moshi.py


def spec(c: Config) -> Spec:
    both = c.int("ffn_dim", minimum=2)
    if both % 2:
        raise c.error(f"ffn_dim is {both:,}, and must be even: half of it gates the other half.", "ffn_dim")
    mixer = keys.attention(c, indivisible="refused")
    layer, windows = Layer(mixer=mixer, ffn=Dense(width=both // 2)), keys.sliding_everywhere(c, default=3000)
    whole = keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"), windows=windows)
    return whole.replace(tied=False)  # never tied, even if the config says so


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a, width = one.attention, one.dense.width
        queries, keys_ = a.heads * a.head_dim, a.kv_heads * a.head_dim
        return pre_norm(
            d,
            self_attn=block(
                "attention",
                q_proj=block(linear=Linear(d, queries)),
                k_proj=block(linear=Linear(d, keys_)),
                v_proj=block(linear=Linear(d, keys_)),
                o_proj=block(linear=Linear(queries, d)),
            ),
            mlp=block("mlp", fc1=Linear(d, 2 * width), fc2=Linear(width, d)),
        )

    body = block(embed_tokens=embedding(s.vocab + 1, d), layers=stack(s.layers, layer), norm=rms_norm(d))
    return body if s.head == "base" else block(model=body, lm_head=lm_head(s, "model.embed_tokens.weight"))
