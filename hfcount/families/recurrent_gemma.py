"""RecurrentGemma: gated linear recurrences with local attention in every third layer (arXiv:2404.07839)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, gqa, rms_norm, stack, swiglu, with_head
from hfcount.parts.mixers import rg_lru
from hfcount.spec import LRU, Dense, Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("recurrent_gemma",)


def spec(c: Config) -> Spec:
    hidden, heads = c.int("hidden_size"), c.int("num_attention_heads")
    width = c.int("lru_width", default=hidden)
    keys.divides(c, "num_attention_heads", heads, "lru_width", width)
    full = keys.attention(c, qkv_bias=c.bool("attention_bias", default=False), out_bias=True, kv_heads_optional=True)
    lru = LRU(width=width, heads=heads, kernel=c.int("conv1d_width"))
    ffn = Dense(width=keys.divides(c, "2", 2, "intermediate_size", c.int("intermediate_size")), bias=True)
    kinds = {
        "attention": Layer(mixer=full, ffn=ffn),
        "recurrent": Layer(mixer=lru, ffn=ffn),
    }
    pattern = c.strs("block_types", "_block_types") or ["recurrent", "recurrent", "attention"]
    layers = keys.periodic(c, kinds, pattern, "block_types")
    windows = keys.sliding_everywhere(c, 2048, key="attention_window_size")
    return keys.decoder_spec(c, layers, tied=True, heads=("ForCausalLM", "Model"), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        mixer = one.mixer
        return block(
            temporal_pre_norm=rms_norm(d),
            temporal_block=rg_lru(d, mixer) if isinstance(mixer, LRU) else gqa(d, one.attention),
            channel_pre_norm=rms_norm(d),
            mlp_block=swiglu(d, one.dense.width, bias=True),
        )

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer), final_norm=rms_norm(d))
    return with_head(s, body)
