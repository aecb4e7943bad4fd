"""Latent attention of several kinds in one model."""

from itertools import product

from hfcount.architectures.keys.layers import indexing, listing
from hfcount.architectures.keys.sizes import layer_count
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import MLA, Layer, Layers
from hfcount.spec.tree.indices import Indices, intersection


def latent_by_place(c: Config, rotated: MLA) -> list[Layers]:
    """Layers with rotary positions or without, with keys and values of their own or not, with an indexer or not.

    Source: transformers 5.23, configuration_mistral_large4.py, MistralLarge4TextConfig.
    """
    count, every = layer_count(c), Indices.below(layer_count(c))
    period = c.int("no_rope_layer_interval", default=4, minimum=1, maximum=MAX_LAYERS)
    plain = [Indices.span(period - 1, count, period)]
    if given := c.ints("no_rope_layers"):
        plain = listing(c, "no_rope_layers", [int(bool(one)) for one in given], 0, 1)[:1]
    sources = c.ints("kv_source_layers")
    if sources and len(sources) != count:
        raise c.unequal("kv_source_layers", len(sources), "num_hidden_layers", count)
    lent = [Indices.of(place for place, source in enumerate(sources) if place != source)]
    without, shared, indexes = (_split(every, some) for some in (plain, lent, indexing(c)))
    still = rotated.replace(nope_dim=rotated.nope_dim + rotated.rope_dim, rope_dim=0)
    heads, width = c.int("index_n_heads"), c.int("index_head_dim")
    made = []
    for (one, unrotated), (other, lends), (third, chooses) in product(without, shared, indexes):
        places = intersection(intersection(one, other), third)
        mixer = still if unrotated else rotated
        own = mixer.replace(index_heads=heads, index_dim=width) if chooses else mixer
        if places.count:
            made.append(Layers(indices=places, layer=Layer(mixer=own, shares_kv=lends)))
    return made


def _split(every: Indices, some: list[Indices]) -> list[tuple[Indices, bool]]:
    """Layers that are among `some`, and the others."""
    return [*((part, True) for part in some), (every.difference(*some), False)]
