"""Gemma 3n: several streams of which a layer updates one, low-rank residuals, and an embedding for every layer (model
card of google/gemma-3n-E4B)."""

from hfcount import keys
from hfcount.errors import ConfigError
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Layers, Spec
from hfcount.tree.block import Aside, Block, Linear, block
from hfcount.tree.indices import Indices, common
from hfcount.tree.parts import base, embedding, rms_norm, swiglu, with_head
from hfcount.tree.parts.composite import joined
from hfcount.tree.parts.gemma import (
    altup,
    altup_projections,
    laurel,
    lending_attention,
    per_layer_input,
    per_layer_tables,
)

MODEL_TYPES = ("gemma3n", "gemma3n_text")


def spec(c: Config) -> Spec:
    text = c if c.family == "gemma3n_text" else c.part("text_config")
    extras = {
        "per_layer": text.int("hidden_size_per_layer_input", default=256),
        "per_layer_vocab": text.int("vocab_size_per_layer_input", default=262_144),
        "streams": text.int("altup_num_inputs", default=4),
        "laurel_rank": text.int("laurel_rank", default=64),
    }
    if text is c:
        return keys.frame(c, _layers(c), tied=True, heads=("ForCausalLM", "Model"), extras=extras)
    for name, width in (("vision", 2048), ("audio", 1536)):
        sense = c.part(f"{name}_config")
        extras[f"{name}_hidden"] = sense.int("hidden_size", default=width)
        extras[f"{name}_vocab"] = sense.int("vocab_size", default=128)
    heads = ("ForConditionalGeneration", "Model", "ForCausalLM")
    return keys.frame(text, _layers(text), whole=c, tied=True, heads=heads, extras=extras)


def _layers(c: Config) -> list[Layers]:
    count, widths = keys.layer_count(c), c.ints("intermediate_size", alone=True)
    bias, every = c.bool("attention_bias", default=False), Indices.upto(count)
    if not widths:
        widths = [c.int("intermediate_size")]
    if len(widths) not in (1, count):
        raise ConfigError(
            f"{c.where}: intermediate_size has {len(widths):,} entries and num_hidden_layers is {count:,}. Correct one."
        )
    shared = c.int("num_kv_shared_layers", default=15, minimum=0)
    borrowing = Indices.of(range(count - min(count, shared), count))
    mixer = keys.attention(c, qkv_bias=bias, out_bias=bias, qk_norm=True, head_dim=256)
    found = []
    for width in dict.fromkeys(widths):
        if width < 1:
            raise ConfigError(f"{c.where}: intermediate_size names {width:,}, and must name widths of 1 and more.")
        alike = every if len(widths) == 1 else Indices.of(n for n, other in enumerate(widths) if other == width)
        late = common(alike, borrowing)
        for indices, borrows in ((alike.less(late), 0), (late, 1)):
            layer = Layer(mixer=mixer, ffn=Dense(width=width), extras={"borrows": borrows})
            found += [Layers(indices=indices, layer=layer)] if indices.count else []
    return found


def blueprint(s: Spec) -> Block:
    d, norm, per_layer, of = s.hidden, rms_norm(s.hidden), s.extras["per_layer"], s.extras

    def layer(one: Layer) -> Block:
        named = block(
            self_attn=lending_attention(d, one.attention, borrows=bool(one.extras["borrows"])),
            mlp=swiglu(d, one.dense.width),
            input_layernorm=norm,
            post_attention_layernorm=norm,
            pre_feedforward_layernorm=norm,
            post_feedforward_layernorm=norm,
            altup=altup(d, of["streams"]),
            laurel=laurel(d, of["laurel_rank"]),
        )
        return Block({**named.children, **per_layer_input(d, per_layer)})

    tables = per_layer_tables(d, s.depth, of["per_layer_vocab"], per_layer)
    body = Block({**base(s, layer).children, **tables, **altup_projections(d, of["streams"])})
    if s.family == "gemma3n_text" or s.head == "causal_lm":
        return with_head(s, body)

    def embedder(name: str) -> Block:
        width = of[f"{name}_hidden"]
        return block(
            "vision" if name == "vision" else "other",
            embedding=embedding(of[f"{name}_vocab"], width),
            hard_embedding_norm=rms_norm(width),
            soft_embedding_norm=rms_norm(width),
            embedding_projection=Linear(width, d),
        )

    return joined(
        s,
        body,
        vision_tower=Aside("MobileNetV5, the vision tower of Gemma 3n, is not described"),
        audio_tower=Aside("the audio tower of Gemma 3n is not described"),
        embed_vision=embedder("vision"),
        embed_audio=embedder("audio"),
    )
