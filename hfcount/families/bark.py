"""Bark: three transformers, from words to meanings, from those to coarse codes and to fine ones, and EnCodec."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, mlp, stack
from hfcount.parts.classic import fused_attention
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, Tied, block, buffer

MODEL_TYPES = ("bark",)  # transformers 5.23: modeling_bark.py

_CODES = 1000  # codebooks, each of which is tied to a head by its number


def spec(c: Config) -> Spec:
    parts = {name: _transformer(c, f"{key}_config") for name, key in _NAMES.items()}
    parts["audio"] = families.part(c, "codec_config")
    heads = keys.named(("Model",))
    d = parts["semantic"].hidden
    return keys.decoder_spec(c, [], heads=heads, vocab=0, hidden=d, parts=parts).but(causal=False)


_NAMES = {"semantic": "semantic", "coarse": "coarse_acoustics", "fine": "fine_acoustics"}


def _transformer(c: Config, name: str) -> Spec:
    own = c.part(name)
    d, bias = own.int("hidden_size"), own.bool("bias")
    layer = Layer(mixer=keys.multi_head(own, d, own.int("num_heads"), bias=bias), ffn=Dense(width=4 * d, bias=bias))
    traits = {"output_vocab_size": keys.sized("|V_o|", own.int("output_vocab_size")), "bias": bias}
    if name.startswith("fine"):
        for key in ("n_codes_total", "n_codes_given"):
            traits[key] = own.int(key, maximum=_CODES)
    return Spec(
        family=c.family,
        vocab=own.int("input_vocab_size"),
        hidden=d,
        layers=tuple(keys.alike(layer, keys.layer_count(own, "num_layers"))),
        positions=own.int("block_size"),
        tied=own.bool("tie_word_embeddings", default=True),
        traits=traits,
    )


def blueprint(s: Spec) -> Block:
    found = {key: _tree(s.parts[name], name == "fine") for name, key in _NAMES.items()}
    return Block({**found, "codec_model": families.tower(s, "audio")})


def _tree(s: Spec, fine: bool) -> Block:
    d, of, rows = s.hidden, s.traits, s.positions or 0
    bias = bool(of["bias"])
    mask = {} if fine else {"bias": buffer(1, 1, rows, rows, whole=True)}
    norm = layer_norm(d, bias or fine)

    def layer(one: Layer) -> Block:
        attention = fused_attention(d, one.attention, "att_proj", "out_proj").children
        network = mlp(d, one.dense.width, bias, "in_proj", "out_proj")
        return block(layernorm_1=norm, attn=Block({**attention, **mask}, "attention"), layernorm_2=norm, mlp=network)

    around = block(
        position_embeds_layer=embedding(rows, d),
        layers=stack(s.layers, layer),
        layernorm_final=layer_norm(d, bias or fine),
    ).children
    words, out = embedding(s.vocab, d), of["output_vocab_size"]
    if not fine:
        return Block({"input_embeds_layer": words, **around, "lm_head": Linear(d, out, component="lm_head")})
    total, given = of["n_codes_total"], of["n_codes_given"]
    heads = dict[str, Node]()
    for number in range(int(total) - int(given)):
        tied = Tied(f"fine_acoustics.input_embeds_layers.{number + 1}.weight", (s.vocab, d), "lm_head")
        heads[str(number)] = tied if s.tied else Linear(d, out, component="lm_head")
    return Block({"input_embeds_layers": Repeat(Indices.below(total), words), **around, "lm_heads": Block(heads)})
