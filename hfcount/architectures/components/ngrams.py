"""N-gram embedding tables that some layers look up."""

from collections.abc import Iterator, Sequence

from hfcount.architectures.layers.mixers import conv1d
from hfcount.architectures.layers.norms import rms_norm
from hfcount.architectures.layers.sizes import derived_dim, dim, divides, layer_count
from hfcount.mapper import Config
from hfcount.spec import Layers, Record
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, buffer

_MOST = 4_096  # tables, whose sizes are found one by one


class Ngrams(Record):
    """The tables of one layer, `heads` in all, whose `rows` of `width` elements are stored together.

    Args:
        embedded: elements that a token gets from all of them.
        kernel: the width of the convolution after them.
        length: tokens of the longest n-grams.
        shards: how many tensors the rows are parted into at most.
    """

    embedded: int
    heads: int
    width: int
    kernel: int
    length: int
    shards: int
    rows: int

    def tensors(self, d: int, streams: int) -> Block:
        """Looks up the last tokens as n-grams, of which a gate adds the values to all `streams`, d wide each.

        Tensors: ple_embedding.ngram_embedding, parted by rows into shard_0, shard_1, ..., and buffers beside it;
        key_proj (m·d, d_n), value_proj (d, d_n), norm_key, norm_query and norm_conv (m·d), conv1d (m·d, 1, w). Source:
        transformers 5.23, modeling_qwen4_exp.py.
        """
        wide, rows, heads = streams * d, self.rows, self.heads
        each = round_up(rows, self.shards) // self.shards
        last = (int(rows) - 1) // int(each)
        ends = [each] * last + [rows - last * each]
        # A token reads a row of each head's table, wherever that is: counted once, in the first shard.
        shards = {
            f"shard_{number}": block(weight=Tensor((end, self.width), active=(0, 1) if number else (heads, end)))
            for number, end in enumerate(ends)
        }
        tables = block(
            "embedding",
            layer_multipliers=buffer(self.length, whole=True),
            ngram_heads_vocab_sizes=buffer(heads, whole=True),
            ngram_heads_offsets=buffer(heads, whole=True),
            ngram_embedding=Block(shards),
        )
        return block(
            ple_embedding=tables,
            key_proj=Linear(self.embedded, wide),
            value_proj=Linear(self.embedded, d),
            norm_key=rms_norm(wide),
            norm_query=rms_norm(wide),
            norm_conv=rms_norm(wide),
            conv1d=conv1d(wide, self.kernel),
        )


def with_ngrams(c: Config, layers: Sequence[Layers], streams: int) -> list[Layers]:
    """The layers, of which those that ple_layer_ids names, counted from 1, have Ngrams of their own.

    They keep the inputs of a convolution of all `streams`, as many as it spans in steps of ngram_size tokens.

    A layer has heads_per_ngram tables for each length of n-grams from 2 to ngram_size, all in one tensor: the next
    primes from ngram_vocab_size_base on, rounded up together. Source: transformers 5.23, modeling_qwen4_exp.py.
    """
    places = sorted(set(c.ints("ple_layer_ids")))
    if not places:
        return list(layers)
    if not 1 <= places[0] <= places[-1] <= layer_count(c):
        raise c.error(
            "out-of-range",
            "ple_layer_ids names a layer that there is not.",
            "ple_layer_ids",
            "Correct it; it counts from 1.",
        )
    length = c.int("ngram_size", minimum=2)
    heads, width = (length - 1) * c.int("heads_per_ngram"), c.int("ple_embed_dim", default=None) or c.int("hidden_size")
    if heads * len(places) > _MOST:
        text = f"{len(places):,} layers with {heads:,} tables of n-grams each are more than {_MOST:,}."
        raise c.error("out-of-range", text, "heads_per_ngram", "Correct it.")
    common = Ngrams(
        embedded=dim("d_n", width),
        heads=heads,
        width=divides(c, "heads_per_ngram", heads, "ple_embed_dim", width),
        kernel=dim("w_n", c.int("ple_conv_kernel_size")),
        length=dim("n_g", length),
        shards=c.int("split_ngram_parts", maximum=_MOST),
        rows=0,
    )
    kept = streams * c.int("hidden_size") * (common.kernel - 1) * common.length
    primes, marked = _primes(c.int("ngram_vocab_size_base")), list(layers)
    for number, place in enumerate(places):
        rows = round_up(sum(next(primes) for _ in range(heads)), c.int("make_ngram_vocab_size_divisible_by"))
        known = derived_dim(c, f"|V_n{number + 1}|", int(rows), "{ngram_vocab_size_base}, in primes")
        marked = _marked(marked, Indices.fixed(place - 1), common.replace(rows=known), int(kept))
    return marked


def _marked(layers: Sequence[Layers], place: Indices, ngrams: Ngrams, kept: int) -> list[Layers]:
    parts = []
    for part in layers:
        indices = intersection(part.indices, place)
        rest, layer = part.indices.difference(indices), part.layer
        parts += [(rest, layer), (indices, layer.replace(own=ngrams, convolved=kept))]
    return [Layers(indices=indices, layer=layer) for indices, layer in parts if indices.count]


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
