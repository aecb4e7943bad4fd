"""Tables of n-grams that some layers look up."""

from collections.abc import Iterator, Sequence

from hfcount.keys.sizes import divides, layer_count, sized, worked
from hfcount.mapper import Config
from hfcount.spec import Layers
from hfcount.tree.dims import round_up
from hfcount.tree.indices import Indices, intersection

_MOST = 4_096  # tables, whose sizes are found one by one


def with_ngrams(c: Config, layers: Sequence[Layers]) -> list[Layers]:
    """The layers, of which those that ple_layer_ids names, counted from 1, have traits with the sizes of their tables.

    A layer has heads_per_ngram tables for each length of n-grams from 2 to ngram_size, all in one tensor: the next
    primes from ngram_vocab_size_base on, rounded up together. Source: transformers 5.23, modeling_qwen4_exp.py.
    """
    places = sorted(set(c.ints("ple_layer_ids")))
    if not places:
        return list(layers)
    if not 1 <= places[0] <= places[-1] <= layer_count(c):
        raise c.error(
            "ple_layer_ids names a layer that there is not.", "ple_layer_ids", "Correct it; it counts from 1."
        )
    length = c.int("ngram_size", minimum=2)
    heads, width = (length - 1) * c.int("heads_per_ngram"), c.int("ple_embed_dim", default=None) or c.int("hidden_size")
    if heads * len(places) > _MOST:
        said = f"{len(places):,} layers with {heads:,} tables of n-grams each are more than {_MOST:,}."
        raise c.error(said, "heads_per_ngram", "Correct it.")
    common = {
        "ple_embed_dim": sized("d_n", width),
        "ple_heads": heads,
        "ple_width": divides(c, "heads_per_ngram", heads, "ple_embed_dim", width),
        "ple_conv_kernel_size": sized("w_n", c.int("ple_conv_kernel_size")),
        "ngram_size": sized("n_g", length),
        "split_ngram_parts": c.int("split_ngram_parts", maximum=_MOST),
    }
    primes, found = _primes(c.int("ngram_vocab_size_base")), list(layers)
    for number, place in enumerate(places):
        rows = round_up(sum(next(primes) for _ in range(heads)), c.int("make_ngram_vocab_size_divisible_by"))
        known = worked(c, f"|V_n{number + 1}|", int(rows), "{ngram_vocab_size_base}, in primes")
        found = _marked(found, Indices.fixed(place - 1), {**common, "ple_rows": known})
    return found


def _marked(layers: Sequence[Layers], place: Indices, traits: dict[str, int]) -> list[Layers]:
    found = []
    for part in layers:
        own = intersection(part.indices, place)
        rest, one = part.indices.difference(own), part.layer
        found += [(rest, one), (own, one.but(traits={**one.traits, **traits}))]
    return [Layers(indices=indices, layer=layer) for indices, layer in found if indices.count]


def _primes(start: int) -> Iterator[int]:
    number = int(start)
    while True:
        if _is_prime(number):
            yield number
        number += 1


def _is_prime(number: int) -> bool:
    """Miller and Rabin's test, which these bases make exact for the numbers that a config may give."""
    bases = (2, 3, 5, 7, 11)
    if number < 2 or any(number % base == 0 for base in bases):
        return number in bases
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(
        (power := pow(base, odd, number)) in (1, number - 1)
        or any((power := power * power % number) == number - 1 for _ in range(twos - 1))
        for base in bases
    )
