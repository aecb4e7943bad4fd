"""GPT-Neo: GPT-2 with local attention in every other layer (Black et al. 2021, doi:10.5281/zenodo.5297715)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import causal_mask, generative, mha, positions
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("gpt_neo",)  # transformers 5.23: modeling_gpt_neo.py


def spec(c: Config) -> Spec:
    d = c.int("hidden_size")
    mixer = keys.multi_head(c, d, c.int("num_heads", "num_attention_heads"), qkv_bias=False)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size", default=4 * d), bias=True))
    layers = keys.uniform(layer, keys.layer_count(c, "num_layers", "num_hidden_layers"))
    size = keys.extent(c, "window_size", default=256)
    windows = [window for indices in _local(c) for window in keys.within(indices, size)] if size else []
    rows = c.int("max_position_embeddings")
    return keys.decoder_spec(c, layers, hidden=d, positions=rows, tied=True, windows=tuple(windows))


def _local(c: Config) -> list[Indices]:
    """The layers with local attention: every second, or as in the repeated patterns of attention_types."""
    count, given = keys.layer_count(c, "num_layers", "num_hidden_layers"), c.entries("attention_types")
    if not given:
        return [Indices.span(1, max(1, count), 2)]
    if not all(isinstance(entry, list) and [*map(type, entry)] == [list, int] and entry[1] >= 0 for entry in given):
        text = "attention_types must have pairs of a list of kinds and how often it is repeated."
        raise c.error("list-length", text, "attention_types")
    if (total := sum(len(pattern) * times for pattern, times in given)) != count:
        text = f"attention_types has {total:,} entries for {count:,} layers."
        raise c.error("list-length", text, "attention_types", "Correct one of them.")
    start, parts = 0, []
    for pattern, times in given:
        stop = start + len(pattern) * times
        places = (place for place, kind in enumerate(pattern, start) if kind == "local")
        parts += [Indices.of(range(place, max(place, stop), len(pattern))) for place in places]
        start = stop
    return parts


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            ln_1=layer_norm(d),
            attn=block("attention", attention=altered(mha(d, layer.attention), **causal_mask(s.positions or 0))),
            ln_2=layer_norm(d),
            mlp=mlp(d, layer.dense.width, up="c_fc", down="c_proj"),
        )

    body = block(wte=embedding(s.vocab, d), wpe=positions(s), h=stack(s.layers, layer_block), ln_f=layer_norm(d))
    return generative(s, "transformer", body, "wte")
