"""CLVP's decoder of speech tokens, built like GPT-2 (arXiv:2305.07243)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, lm_head, stack
from hfcount.parts.classic import conv1d, mha, positions
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("clvp_decoder",)  # transformers 5.23: modeling_clvp.py
IGNORED = (
    *("feature_size", "max_text_tokens", "num_mel_attn_blocks", "decoder_fixing_codes"),
    *("summary_use_proj", "summary_proj_to_labels"),
)


def spec(c: Config) -> Spec:
    d, bias = c.int("hidden_size"), c.bool("use_attention_bias", default=True)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias, out_bias=True)
    wide = 4 * d if c.is_null("n_inner") else c.int("n_inner")
    layer, rows = Layer(mixer=mixer, ffn=Dense(width=wide, bias=True)), c.int("max_position_embeddings")
    heads = ("ForCausalLM", "Model")
    return keys.decoder_spec(c, layer, heads=heads, hidden=d, positions=rows).replace(tied=False)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        wide = one.dense.width
        return block(
            input_layernorm=layer_norm(d),
            attn=mha(d, one.attention),
            post_attention_layernorm=layer_norm(d),
            mlp=block("mlp", c_fc=conv1d(d, wide), c_proj=conv1d(wide, d)),
        )

    decoder = block(
        input_embeds_layer=embedding(s.vocab, d),
        position_embeds_layer=positions(s),
        layers=stack(s.layers, layer),
        layer_norm=layer_norm(d),
    )
    if s.head == "base":
        return block(decoder=decoder)
    return block(model=block(decoder=decoder), final_norm=layer_norm(d), lm_head=lm_head(s, "", bias=True))
