"""Gemma 3n: residual streams, low-rank residuals, an embedding for every layer (model card of google/gemma-3n-E4B)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import base, gemma, rms_norm, swiglu, with_head
from hfcount.parts.composite import towers_in_model
from hfcount.spec import Dense, Layer, Layers, Record, Sizes, Spec, size
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("gemma3n", "gemma3n_text")  # transformers 5.23: modeling_gemma3n.py
IGNORED = ("vision_soft_tokens_per_image",)
WITHIN = {"gemma3n_text": ("model.language_model.", "model.")}

_BRANCHES = ("input", "post_attention", "pre_feedforward", "post_feedforward")


class Senses(Record):
    """The rows of the tables of what it sees and hears."""

    vision: int
    audio: int


class Gemma3n(Sizes):
    """What Gemma 3n alone has."""

    hidden_size_per_layer_input: int = size("d_l", absent=256)
    vocab_size_per_layer_input: int = size("|V_l|", absent=262_144)
    altup_num_inputs: int = size(absent=4)
    laurel_rank: int = size("r", absent=64)
    senses: Senses | None = None


def spec(c: Config) -> Spec[Gemma3n]:
    text = c if c.family == "gemma3n_text" else c.part("text_config")
    bias = text.bool("attention_bias", default=False)
    mixer = keys.attention(text, qkv_bias=bias, out_bias=bias, qk_norm=True, head_dim=256)
    widths = keys.network_widths(text)
    layers = [Layers(indices=where, layer=Layer(mixer=mixer, ffn=Dense(width=width))) for width, where in widths]
    lent = keys.shares_kv(text, layers, default=15)
    own = Gemma3n.read(text)
    windows = keys.sliding(text, lambda: keys.all_but_every_nth(text, 5), default=512)
    if text is c:
        whole = keys.decoder_spec(c, lent, tied=True, heads=("ForCausalLM", "Model"), windows=windows)
        return whole.having(own)
    towers = {sense: families.part(c, f"{sense}_config") for sense in ("vision", "audio")}
    seen = keys.dim("|V_v|", c.part("vision_config").int("vocab_size", default=128))
    heard = keys.dim("|V_a|", c.part("audio_config").int("vocab_size", default=128))
    heads = ("ForConditionalGeneration", "Model", "ForCausalLM")
    whole = keys.decoder_spec(text, lent, whole=c, tied=True, heads=heads, windows=windows, parts=towers)
    return whole.having(own.replace(senses=Senses(vision=seen, audio=heard)))


def blueprint(s: Spec[Gemma3n]) -> Block:
    d, norm, of = s.hidden, rms_norm(s.hidden), s.own

    def layer(one: Layer) -> Block:
        named = block(
            self_attn=gemma.lending_attention(d, one.attention, shares_kv=one.shares_kv),
            mlp=swiglu(d, one.dense.width),
            **{f"{branch}_layernorm": norm for branch in _BRANCHES},
            altup=gemma.altup(d, of.altup_num_inputs),
            laurel=gemma.laurel(d, of.laurel_rank),
        )
        return Block({**named.children, **gemma.per_layer_input(d, of.hidden_size_per_layer_input)})

    tables = gemma.per_layer_tables(d, s.depth, of.vocab_size_per_layer_input, of.hidden_size_per_layer_input)
    body = Block({**base(s, layer).children, **tables, **gemma.altup_projections(d, of.altup_num_inputs)})
    if of.senses is None or s.head == "causal_lm":
        return with_head(s, body)
    towers = {"vision_tower": families.tower(s, "vision"), "audio_tower": families.tower(s, "audio")}
    embedders = {
        f"embed_{sense}": gemma.soft_embedder(rows, s.parts[sense].hidden, d, "projector")
        for sense, rows in (("vision", of.senses.vision), ("audio", of.senses.audio))
    }
    return towers_in_model(s, body, **towers, **embedders)
