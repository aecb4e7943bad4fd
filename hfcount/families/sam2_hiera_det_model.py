"""Hiera, as in SAM 2: stages of attention within windows, each wider than the one before (arXiv:2306.00989)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.spec import Dense, Layer, Layers, Record, Sizes, Spec, size, told
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("sam2_hiera_det_model",)  # transformers 5.23: modeling_sam2.py
IGNORED = (
    "image_size",
    "patch_stride",
    "patch_padding",
    "query_stride",
    "num_query_pool_stages",
    "global_attention_blocks",
    "num_attention_heads",
)


class Sam2HieraDetLayer(Record):
    """What a layer of this Hiera alone has: the width of what it takes."""

    inputs: int


class Sam2HieraDetModel(Sizes):
    """What this Hiera alone has: sides of its table of positions, of a patch, and of the first windows."""

    background: tuple[int, ...] = told(
        lambda c: _sides(c, "window_positional_embedding_background_size", ("h_b", "w_b"))
    )
    patch: tuple[int, ...] = told(lambda c: _sides(c, "patch_kernel_size", ("P_h", "P_w")))
    num_channels: int = size("C")
    window: int


def spec(c: Config) -> Spec[Sam2HieraDetModel]:
    widths = c.ints("embed_dim_per_stage", default=(96, 192, 384, 768))
    heads = c.ints("num_attention_heads_per_stage", default=(1, 2, 4, 8))
    depths, sides = (
        c.ints("blocks_per_stage", default=(1, 2, 7, 2)),
        c.ints("window_size_per_stage", default=(8, 4, 14, 7)),
    )
    if not 0 < len(depths) <= min(len(widths), len(heads)) or not sides:
        said = (
            f"blocks_per_stage has {len(depths):,} entries for {len(widths):,} widths, {len(heads):,} numbers of heads."
        )
        raise c.error(said, "blocks_per_stage", "Correct one of them.")
    layers, start, before = [], 0, 0
    for number, (depth, width, many) in enumerate(zip(depths, widths, heads, strict=False)):
        d = keys.dim(f"d{number + 1}", width)
        ffn = Dense(width=c.times("mlp_ratio", d, default=4), bias=True)
        mixer = keys.multi_head(c, d, many, indivisible="built")
        second = start + (1 if depth else 0)
        for inputs, places in ((before or d, Indices.span(start, second)), (d, Indices.span(second, start + depth))):
            layer = Layer(mixer=mixer, ffn=ffn, stage_width=d, own=Sam2HieraDetLayer(inputs=inputs))
            layers += [Layers(indices=places, layer=layer)] if places.count else []
        start, before = start + int(depth), d
    own = Sam2HieraDetModel.read(c, window=keys.dim("w", sides[0]))
    return keys.encoding(c, layers, hidden=c.int("hidden_size")).having(own)


def _sides(c: Config, key: str, symbols: tuple[str, str]) -> tuple[int, ...]:
    """Height and width, usually 7; what has other dimensions is built, and sees no image."""
    sides = [c.int(key)] * 2 if c.is_int(key) else c.ints(key, default=(7, 7))
    if len(sides) != 2:
        c.cannot_run(f"{key} has {len(sides):,} entries, and images have height and width.", key, observed=len(sides))
    named = [*symbols, *(f"{symbols[1]}{place}" for place in range(2, len(sides)))]
    return tuple(keys.dim(named[place], side) for place, side in enumerate(sides))


def blueprint(s: Spec[Sam2HieraDetModel]) -> Block:
    of, first = s.own, s.hidden

    def layer(one: Layer) -> Block:
        inputs, d = one.sizes(Sam2HieraDetLayer).inputs, one.width
        return block(
            layer_norm1=layer_norm(inputs),
            attn=block("attention", qkv=Linear(inputs, 3 * d, True), proj=Linear(d, d, True)),
            layer_norm2=layer_norm(d),
            mlp=mlp(d, one.dense.width, up="proj_in", down="proj_out"),
            proj=Linear(inputs, d, True, "other") if inputs != d else None,
        )

    kernel = Tensor((first, of.num_channels, *of.patch))
    places = Tensor((1, first, *of.background), component="embedding")
    return block(
        pos_embed=places,
        pos_embed_window=Tensor((1, first, of.window, of.window), component="embedding"),
        patch_embed=block("embedding", projection=block(weight=kernel, bias=Tensor((first,)))),
        blocks=stack(s.layers, layer),
    )
