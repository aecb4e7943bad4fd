"""Gemma 3n: residual streams, low-rank residuals, an embedding for every layer (model card of google/gemma-3n-E4B)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import base, gemma, rms_norm, swiglu, with_head
from hfcount.parts.composite import joined
from hfcount.spec import Dense, Layer, Layers, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("gemma3n", "gemma3n_text")  # transformers 5.23: modeling_gemma3n.py
IGNORED = ("vision_soft_tokens_per_image",)
WITHIN = {"gemma3n_text": ("model.language_model.", "model.")}

_BRANCHES = ("input", "post_attention", "pre_feedforward", "post_feedforward")


def spec(c: Config) -> Spec:
    text = c if c.family == "gemma3n_text" else c.part("text_config")
    bias = text.bool("attention_bias", default=False)
    mixer = keys.attention(text, qkv_bias=bias, out_bias=bias, qk_norm=True, head_dim=256)
    widths = keys.network_widths(text)
    layers = [Layers(indices=where, layer=Layer(mixer=mixer, ffn=Dense(width=width))) for width, where in widths]
    lent = keys.shares_kv(text, layers, default=15)
    traits = {
        "per_layer": keys.sized("d_l", text.int("hidden_size_per_layer_input", default=256)),
        "per_layer_vocab": keys.sized("|V_l|", text.int("vocab_size_per_layer_input", default=262_144)),
        "streams": text.int("altup_num_inputs", default=4),
        "laurel_rank": keys.sized("r", text.int("laurel_rank", default=64)),
    }
    windows = keys.sliding(text, lambda: keys.all_but_every_nth(text, 5), default=512)
    if text is c:
        return keys.decoder_spec(c, lent, tied=True, heads=("ForCausalLM", "Model"), traits=traits, windows=windows)
    towers = {sense: families.part(c, f"{sense}_config") for sense in ("vision", "audio")}
    for sense in towers:
        traits[f"{sense}_vocab"] = keys.sized(
            f"|V_{sense[0]}|", c.part(f"{sense}_config").int("vocab_size", default=128)
        )
    heads = ("ForConditionalGeneration", "Model", "ForCausalLM")
    return keys.decoder_spec(text, lent, whole=c, tied=True, heads=heads, traits=traits, windows=windows, parts=towers)


def blueprint(s: Spec) -> Block:
    d, norm, of = s.hidden, rms_norm(s.hidden), s.traits

    def layer(one: Layer) -> Block:
        named = block(
            self_attn=gemma.lending_attention(d, one.attention, shares_kv=one.shares_kv),
            mlp=swiglu(d, one.dense.width),
            **{f"{branch}_layernorm": norm for branch in _BRANCHES},
            altup=gemma.altup(d, of["streams"]),
            laurel=gemma.laurel(d, of["laurel_rank"]),
        )
        return Block({**named.children, **gemma.per_layer_input(d, of["per_layer"])})

    tables = gemma.per_layer_tables(d, s.depth, of["per_layer_vocab"], of["per_layer"])
    body = Block({**base(s, layer).children, **tables, **gemma.altup_projections(d, of["streams"])})
    if s.family == "gemma3n_text" or s.head == "causal_lm":
        return with_head(s, body)
    towers = {"vision_tower": families.tower(s, "vision"), "audio_tower": families.tower(s, "audio")}
    embedders = {
        f"embed_{sense}": gemma.soft_embedder(of[f"{sense}_vocab"], s.parts[sense].hidden, d, "projector")
        for sense in ("vision", "audio")
    }
    return joined(s, body, **towers, **embedders)
