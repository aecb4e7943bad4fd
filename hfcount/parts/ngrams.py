"""Residual streams that are mixed with low rank, and tables of n-grams beside them."""

from hfcount.parts.mixers import conv1d
from hfcount.parts.norms import rms_norm
from hfcount.spec import Layer
from hfcount.tree.dims import round_up
from hfcount.tree.nodes import Block, Linear, Tensor, block, buffer


def gated_residual(d: int, streams: int, rank: int, inject: bool = True) -> Block:
    """Mixes m residual streams before a part of a layer, and with `inject` gives them its output.

    Tensors: hc_norm (m·d), input_mix_weight_down (r, m·d), input_mix_weight_up (m·d, r), block_inject_weight (m, m·d).
    Source: transformers 5.23, modeling_qwen4_exp.py.
    """
    wide = streams * d
    return block(
        "other",
        hc_norm=rms_norm(wide),
        input_mix_weight_down=Linear(wide, rank),
        input_mix_weight_up=Linear(rank, wide),
        block_inject_weight=Linear(wide, streams) if inject else None,
    )


def ngram_layer(d: int, one: Layer, streams: int) -> Block:
    """Looks up the last tokens as n-grams, of which a gate adds the values to all streams.

    Tensors: ple_embedding.ngram_embedding, parted by rows into shard_0, shard_1, ..., and buffers beside it; key_proj
    (m·d, d_n), value_proj (d, d_n), norm_key, norm_query and norm_conv (m·d), conv1d (m·d, 1, w). Source: as above.
    """
    of, wide = one.traits, streams * d
    rows, width, heads, inputs = of["ple_rows"], of["ple_width"], of["ple_heads"], of["ple_embed_dim"]
    each = round_up(rows, of["split_ngram_parts"]) // of["split_ngram_parts"]
    last = (int(rows) - 1) // int(each)
    ends = [each] * last + [rows - last * each]
    # A token reads a row of each head's table, wherever that is: counted once, in the first shard.
    shards = {
        f"shard_{number}": block(weight=Tensor((end, width), active=(0, 1) if number else (heads, end)))
        for number, end in enumerate(ends)
    }
    tables = block(
        "embedding",
        layer_multipliers=buffer(of["ngram_size"], whole=True),
        ngram_heads_vocab_sizes=buffer(heads, whole=True),
        ngram_heads_offsets=buffer(heads, whole=True),
        ngram_embedding=Block(shards),
    )
    return block(
        ple_embedding=tables,
        key_proj=Linear(inputs, wide),
        value_proj=Linear(inputs, d),
        norm_key=rms_norm(wide),
        norm_query=rms_norm(wide),
        norm_conv=rms_norm(wide),
        conv1d=conv1d(wide, of["ple_conv_kernel_size"]),
    )
