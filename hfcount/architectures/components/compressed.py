"""KV caches of compressed tokens: one entry for several tokens, and an indexer's keys of these."""

from collections.abc import Iterator, Sequence

from hfcount.mapper import Config
from hfcount.spec import GQA, Entries
from hfcount.spec.tree.indices import Indices


def compressed(c: Config, a: GQA, part: Indices, rate: int, overlap: bool) -> Iterator[Entries]:
    """The compressed KV cache of some layers: entries, and an indexer's keys where groups overlap.

    Of tokens whose group is not complete they keep value and gate, and where groups overlap those of the group before
    too. Source: transformers 5.23, modeling_deepseek_v4.py, DeepseekV4HCACache and DeepseekV4CSACache.

    Args:
        rate: how many tokens become one; 0 if none are compressed.
    """
    if not rate or not part.count:
        return
    waiting = 2 * (rate - 1)
    entries = Entries(
        indices=part,
        kind="compressed",
        rate=rate,
        width=a.head_dim,
        waiting=waiting * a.head_dim,
        products=2 * a.heads * a.head_dim,
    )
    if not overlap:
        yield entries
        return
    waiting, width, heads = 2 * waiting + 2 * rate, c.int("index_head_dim"), c.int("index_n_heads")
    yield entries.replace(waiting=waiting * a.head_dim, top_k=c.int("index_topk", default=512))
    products = heads * (width + 1)
    yield Entries(indices=part, kind="indexer", rate=rate, width=width, waiting=waiting * width, products=products)


def sharing(
    c: Config, a: GQA, ratios: Sequence[int], sources: Sequence[int], selecting: Sequence[int]
) -> tuple[Entries, ...]:
    """The compressed KV cache of each layer, or that of the earlier layer whose cache it shares.

    A layer whose ratio is 0 reads none. An indexer after the one that chooses candidates scores no others. Source:
    deepseek_v41.py of ml-explore/mlx-lm 0.32.2.

    Args:
        ratios: how many tokens become one, by layer.
        sources: the layers that compress tokens.
        selecting: the layers that have an indexer.
    """
    places_of: dict[Entries, list[int]] = {}
    for place, ratio in enumerate(ratios):
        for entries in _of_layer(c, a, place, ratios, (sources, selecting)) if ratio > 0 else ():
            places_of.setdefault(entries, []).append(place)
    return tuple(key.replace(indices=Indices.of(places)) for key, places in places_of.items())


_NOWHERE = Indices.below(0)


def _of_layer(
    c: Config, a: GQA, place: int, ratios: Sequence[int], by: tuple[Sequence[int], Sequence[int]]
) -> Iterator[Entries]:
    sources, selecting = by
    source, keyed = _last(place, sources), _last(place, sorted({*sources} & {*selecting}))
    if source is not None:
        rate, keeps = ratios[source], source == place
        yield Entries(
            indices=_NOWHERE,
            kind="compressed",
            rate=rate,
            width=a.head_dim if keeps else 0,
            waiting=2 * (rate - 1) * a.head_dim if keeps else 0,
            top_k=c.int("index_topk", default=512),
            products=2 * a.heads * a.head_dim if keyed is not None else 0,  # what no indexer chooses is not read
        )
    if place in selecting and keyed is not None:
        width, heads = c.int("index_head_dim"), c.int("index_n_heads")
        yield Entries(
            indices=_NOWHERE,
            kind="indexer",
            rate=ratios[keyed],
            width=width if keyed == place else 0,
            top_k=_candidates(c, place),
            products=heads * (width + 1),
        )


def _candidates(c: Config, place: int) -> int | None:
    """The most entries that an indexer scores; None for all."""
    first = c.int("candidate_source_layer_id", default=-1, minimum=-1)
    most = c.int("candidate_topk_blocks", default=2048, minimum=0) * c.int("candidate_block_size", default=8)
    return most if 0 <= first < place and most else None


def _last(place: int, layers: Sequence[int]) -> int | None:
    """The last of these layers that is not after this one; None if all are."""
    return max((layer for layer in layers if layer <= place), default=None)
