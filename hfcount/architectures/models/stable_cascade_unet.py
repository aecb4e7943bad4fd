"""The U-Nets of Stable Cascade, its prior and its decoder (arXiv:2306.00637)."""

from collections.abc import Sequence
from itertools import pairwise

from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.convolution import depthwise, transposed
from hfcount.architectures.layers.diffusion.layers import attention, conv, numbered
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block
from hfcount.text import shown

# diffusers 0.42.1: unet_stable_cascade.py
MODEL_TYPES = ("StableCascadeUNet",)

_RESIDUAL, _TIMED, _ATTENDS = _KINDS = ("SDCascadeResBlock", "SDCascadeTimestepBlock", "SDCascadeAttnBlock")


class Level(Record):
    """One width: its layers down and up, each of the blocks in `kinds`, and how often what is made is mapped again."""

    width: int
    heads: int
    layers: tuple[int, int]
    again: tuple[int, int]
    kinds: tuple[str, ...]


def _nullable(key: str, symbol: str) -> int | None:
    return derived(lambda c: diffusion.nullable(c, key, symbol))


class StableCascade(Sizes):
    """What it has beside its levels; `timed` names what else than a step there is, and `smooth` is how it resizes."""

    levels: tuple[Level, ...]
    timed: tuple[str, ...]
    smooth: bool
    in_channels: int = size("C_i")
    out_channels: int = size("C_o")
    timestep_ratio_embedding_dim: int = size("d_t")
    patch_size: int = size("P")
    conditioning_dim: int = size("d_c")
    kernel_size: int = size("k")
    clip_seq: int = size("n_c")
    clip_text_pooled_in_channels: int = size("d_p")
    text: int | None = _nullable("clip_text_in_channels", "d_w")
    image: int | None = _nullable("clip_image_in_channels", "d_v")
    effnet: int | None = _nullable("effnet_in_channels", "d_n")
    pixels: int | None = _nullable("pixel_mapper_in_channels", "d_x")


def spec(c: Config) -> Spec[StableCascade]:
    widths = diffusion.stage_widths(c)
    count = len(widths)
    columns = [_column(c, key, count) for key in ("down_num_layers_per_block", "up_num_layers_per_block")]
    again = [_column(c, key, count) for key in ("down_blocks_repeat_mappers", "up_blocks_repeat_mappers")]
    kinds = c.entries("block_types_per_layer")
    if len(kinds) != count:
        raise c.unequal("block_types_per_layer", len(kinds), "the number of entries of block_out_channels", count)
    heads = c.ints("num_attention_heads", least=count, minimum=0)
    _check_shares(c, count)
    smooth = c.value("switch_level") is not None
    if smooth and len(c.entries("switch_level")) < count - 1:
        raise c.unequal("switch_level", len(c.entries("switch_level")), "the number of changes of size", count - 1)
    levels = tuple(
        Level(
            width=width,
            heads=Dim.named(f"h{place + 1}", heads[place]),
            layers=(Dim.named(f"L{place + 1}", columns[0][place]), _named("U", columns[1][::-1], place)),
            again=(_named("r", again[0], place), _named("s", again[1][::-1], place)),
            kinds=_blocks(c, kinds[place], heads[place], width),
        )
        for place, width in enumerate(widths)
    )
    sizes = StableCascade.read(c, levels=levels, timed=tuple(c.strs("timestep_conditioning_type")), smooth=smooth)
    return diffusion.diffusing(c, sizes, widths[0])


def _named(letter: str, column: Sequence[int], place: int) -> int:
    return Dim.named(f"{letter}{place + 1}", column[place])


def _column(c: Config, key: str, count: int) -> list[int]:
    counts = c.ints(key, minimum=0)
    if len(counts) != count:
        raise c.unequal(key, len(counts), "the number of entries of block_out_channels", count)
    return counts


def _check_shares(c: Config, count: int) -> None:
    """Refuses a share that is dropped, or a switch, of which a level has none."""
    for key, kind in (("dropout", float), ("self_attn", bool)):
        value = diffusion.held(c, key)
        if isinstance(value, kind):
            c.number(key, zero=True) if kind is float else c.bool(key)
        elif not isinstance(value, list) or len(c.entries(key)) < count:
            text = f"{key} is {shown(value)}, but must be one for all levels, or a list with one for each."
            raise c.error("list-length", text, key, "Correct it.", expected=count)


def _blocks(c: Config, given: object, heads: int, width: int) -> tuple[str, ...]:
    """The kinds of blocks in each layer of a level."""
    key, names = "block_types_per_layer", given if isinstance(given, list) else [given]
    for name in names:
        if name not in _KINDS:
            text = f"{key} names {shown(name)}, but must name some of {', '.join(_KINDS)}."
            raise c.error("unknown-kind", text, key, "Correct it.", observed=name)
    if _ATTENDS in names and not 0 < heads <= width:
        text = f"num_attention_heads gives {heads:,} heads to a level that attends, and is {int(width):,} wide."
        raise c.error("out-of-range", text, "num_attention_heads", "Correct it.", observed=heads)
    return tuple(names)


def blueprint(s: Spec[StableCascade]) -> Block:
    of, levels, cells = s.own, s.own.levels, s.own.patch_size * s.own.patch_size
    first, d, places = s.hidden, of.conditioning_dim, range(len(s.own.levels))
    pairs = [(level.width, after.width) for level, after in pairwise(levels)]
    down = [Block({}), *(_resized(_shrunk(inputs, outputs, of.smooth)) for inputs, outputs in pairs)]
    up = [*(_resized(_grown(outputs, inputs, of.smooth)) for inputs, outputs in pairs[::-1]), Block({})]
    back = [_level(of, levels[place], levels[place].layers[1], _skipped(of, place)) for place in places[::-1]]
    return block(
        effnet_mapper=_mapped(of.effnet, first),
        pixels_mapper=_mapped(of.pixels, first),
        clip_txt_pooled_mapper=Linear(of.clip_text_pooled_in_channels, d * of.clip_seq, True, "projector"),
        clip_txt_mapper=None if of.text is None else Linear(of.text, d, True, "projector"),
        clip_img_mapper=None if of.image is None else Linear(of.image, d * of.clip_seq, True, "projector"),
        embedding=Block({"1": conv(of.in_channels * cells, first, 1)}, "embedding"),
        down_blocks=numbered([_level(of, level, level.layers[0], 0) for level in levels]),
        down_downscalers=numbered(down),
        down_repeat_mappers=numbered([_again(level, level.again[0]) for level in levels]),
        up_blocks=numbered(back),
        up_upscalers=numbered(up),
        up_repeat_mappers=numbered([_again(level, level.again[1]) for level in levels[::-1]]),
        clf=Block({"1": conv(first, of.out_channels * cells, 1)}),
    )


def _skipped(of: StableCascade, place: int) -> int:
    """What the first block of a level on the way up reads besides: nothing on the deepest level."""
    return of.levels[place].width if place < len(of.levels) - 1 else 0


def _mapped(inputs: int | None, d: int) -> Block | None:
    """Two convolutions that make an image as wide as the first level."""
    return None if inputs is None else Block({"0": conv(inputs, 4 * d, 1), "2": conv(4 * d, d, 1)}, "projector")


def _resized(node: Node) -> Block:
    return Block({"1": node})


def _shrunk(inputs: int, outputs: int, smooth: bool) -> Node:
    return block(blocks=Block({"0": conv(inputs, outputs, 1)})) if smooth else conv(inputs, outputs, 2)


def _grown(inputs: int, outputs: int, smooth: bool) -> Node:
    return block(blocks=Block({"1": conv(inputs, outputs, 1)})) if smooth else transposed(inputs, outputs, 2)


def _again(level: Level, count: int) -> Node:
    """The convolutions in front of each further turn of a level's blocks."""
    turns = count - 1 if count > 1 else 0
    return Repeat(Indices.below(turns), conv(level.width, level.width, 1)) if turns else Block({})


def _level(of: StableCascade, level: Level, layers: int, skipped: int) -> Node:
    """The blocks of a level, of which the first also reads what is `skipped` wide."""
    step, runs = len(level.kinds), list[Node]()
    for place, kind in enumerate(level.kinds):
        numbers = Indices(range(place, int(layers) * step, step), layers)
        if kind == _RESIDUAL and skipped and not place and layers:
            runs.append(Repeat(Indices.fixed(0), _residual(of, level.width, skipped)))
            numbers = Indices(range(step, int(layers) * step, step), layers - 1)
        runs.append(Repeat(numbers, _block(of, level, kind)))
    return tuple(runs)


def _block(of: StableCascade, level: Level, kind: str) -> Block:
    d = level.width
    if kind == _RESIDUAL:
        return _residual(of, d, 0)
    if kind == _TIMED:
        set_by = Linear(of.timestep_ratio_embedding_dim, 2 * d, True)
        return Block({"mapper": set_by, **{f"mapper_{name}": set_by for name in of.timed}}, "embedding")
    inner = level.heads * (d // level.heads)
    return block(
        attention=attention(d, inner), kv_mapper=Block({"1": Linear(of.conditioning_dim, d, True)}, "projector")
    )


def _residual(of: StableCascade, d: int, skipped: int) -> Block:
    row = Tensor((1, 1, 1, 4 * d), component="norm")
    inner: dict[str, Node] = {
        "0": Linear(d + skipped if skipped else d, 4 * d, True),
        "2": block(gamma=row, beta=row),
        "4": Linear(4 * d, d, True),
    }
    return block(depthwise=depthwise(d, of.kernel_size, bias=True), channelwise=Block(inner, "mlp"))
