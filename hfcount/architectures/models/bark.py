"""Bark: three transformers, from words to meanings, from those to coarse codes and to fine ones, and EnCodec."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import fused_attention
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tied, block, buffer

MODEL_TYPES = ("bark",)  # transformers 5.23: modeling_bark.py

_CODES = 1000  # codebooks, each of which is tied to a head by its number


def spec(c: Config) -> Spec:
    parts: dict[str, Spec] = {name: _transformer(c, f"{key}_config") for name, key in _NAMES.items()}
    parts["audio"] = families.part(c, "codec_config")
    heads = keys.named(("Model",))
    d = parts["semantic"].hidden
    return keys.decoder_spec(c, [], heads=heads, vocab=0, hidden=d, parts=parts).replace(causal=False)


_NAMES = {"semantic": "semantic", "coarse": "coarse_acoustics", "fine": "fine_acoustics"}


class Codes(Record):
    """How many codebooks there are, and how many of them are given."""

    total: int
    given: int


class BarkTransformer(Record):
    """Sizes specific to Bark's transformers; `codes` are those of the fine one."""

    output_vocab_size: int
    bias: bool
    codes: Codes | None


def _transformer(c: Config, name: str) -> Spec[BarkTransformer]:
    inner = c.part(name)
    d, bias = inner.int("hidden_size"), inner.bool("bias")
    layer = Layer(mixer=keys.multi_head(inner, d, inner.int("num_heads"), bias=bias), ffn=Dense(width=4 * d, bias=bias))
    outputs, codes = keys.dim("|V_o|", inner.int("output_vocab_size")), None
    if name.startswith("fine"):
        total, given = (inner.int(f"n_codes_{which}", maximum=_CODES) for which in ("total", "given"))
        codes = Codes(total=total, given=given)
    model: Spec = Spec(
        family=c.family,
        vocab=inner.int("input_vocab_size"),
        hidden=d,
        layers=tuple(keys.uniform(layer, keys.layer_count(inner, "num_layers"))),
        positions=inner.int("block_size"),
        tied=inner.bool("tie_word_embeddings", default=True),
    )
    return model.having(BarkTransformer(output_vocab_size=outputs, bias=bias, codes=codes))


def blueprint(s: Spec) -> Block:
    stages = {key: _tree(s.parts[name]) for name, key in _NAMES.items()}
    return Block({**stages, "codec_model": families.tower(s, "audio")})


def _tree(s: Spec) -> Block:
    d, sizes, rows = s.hidden, s.sizes(BarkTransformer), s.positions or 0
    bias, codes = sizes.bias, sizes.codes
    mask = {} if codes else {"bias": buffer(1, 1, rows, rows, whole=True)}
    norm = layer_norm(d, bias or codes is not None)

    def layer_block(layer: Layer) -> Block:
        attention = fused_attention(d, layer.attention, "att_proj", "out_proj").children
        network = mlp(d, layer.dense.width, bias, "in_proj", "out_proj")
        return block(layernorm_1=norm, attn=Block({**attention, **mask}, "attention"), layernorm_2=norm, mlp=network)

    around = block(
        position_embeds_layer=embedding(rows, d),
        layers=stack(s.layers, layer_block),
        layernorm_final=norm,
    ).children
    words, out = embedding(s.vocab, d), sizes.output_vocab_size
    if codes is None:
        return Block({"input_embeds_layer": words, **around, "lm_head": Linear(d, out, component="lm_head")})
    heads = dict[str, Node]()
    for number in range(int(codes.total) - int(codes.given)):
        tied = Tied(f"fine_acoustics.input_embeds_layers.{number + 1}.weight", (s.vocab, d), "lm_head")
        heads[str(number)] = tied if s.tied else Linear(d, out, component="lm_head")
    return Block({"input_embeds_layers": Repeat(Indices.below(codes.total), words), **around, "lm_heads": Block(heads)})
