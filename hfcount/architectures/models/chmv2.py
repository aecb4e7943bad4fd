"""CHMv2: heights of trees from DINOv3's features at four scales (arXiv:2508.10104, arXiv:2103.13413)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.convolution import conv, transposed
from hfcount.mapper import MAX_SIZE, Config, Sizes, derived, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("chmv2",)  # transformers 5.23: modeling_chmv2.py
IGNORED = ("patch_size",)
SPELLINGS = {r"^backbone\.layer\.": "backbone.model.layer."}

_HEADS = keys.named(ForDepthEstimation="base")


class Level(Record):
    """The features of a layer: they are made `finer` so many times, or `coarser`, or not taken from the backbone."""

    width: int
    finer: int
    coarser: bool
    taken: bool


class Chmv2(Sizes):
    levels: tuple[Level, ...]
    projected: bool = derived(lambda c: c.str("readout_type", default="project") == "project")
    head_hidden_size: int = size("d_h")
    number_output_channels: int = size("C_o")


def spec(c: Config) -> Spec[Chmv2]:
    vision = families.part(c, "backbone_config").replace(head="backbone")
    widths, factors = c.ints("post_process_channels", default=(128, 256, 512, 1024)), c.entries("reassemble_factors")
    factors = factors if c.given("reassemble_factors") else [4, 2, 1, 0.5]
    if any(type(factor) not in (int, float) or not 0 < factor <= MAX_SIZE for factor in factors):
        raise c.malformed("reassemble_factors must name numbers above 0.", "reassemble_factors")
    levels, count = list[Level](), len(factors)
    for number, (width, factor) in enumerate(zip(widths, [*factors, *[1] * len(widths)], strict=False), 1):
        channels = keys.dim(f"C{number}", width)
        levels.append(Level(width=channels, finer=int(factor), coarser=factor < 1, taken=number <= count))
    sizes = Chmv2.read(c, levels=tuple(levels))
    d, parts, why = c.int("fusion_hidden_size"), {"backbone": vision}, keys.COARSER
    return keys.imaging(c, (), _HEADS, hidden=d, parts=parts, uncounted=why).having(sizes)


def blueprint(s: Spec[Chmv2]) -> Block:
    sizes, d, backbone = s.own, s.hidden, s.part("backbone")
    inner = backbone.hidden
    same = conv(d, d, 3, bias=True)
    residual = block(convolution1=same, convolution2=same)
    layers, convs, fusions = dict[str, Block](), dict[str, Block](), dict[str, Block]()
    for number, level in enumerate(sizes.levels):
        width = level.width
        resize = transposed(width, width, level.finer) if level.finer > 1 else None
        # Coarser features are made finer; those that are to be coarser still go through a plain convolution.
        if level.coarser:
            resize = conv(width, width, 3, bias=True)
        if level.taken:
            layers[str(number)] = block(projection=conv(inner, width, 1, bias=True), resize=resize)
        convs[str(number)] = conv(width, d, 3)
        first = residual if number else None
        fusions[str(number)] = block(
            projection=conv(d, d, 1, bias=True), residual_layer1=first, residual_layer2=residual
        )
    read = {number: Block({"0": Linear(2 * inner, inner, True, "projector")}) for number in layers}
    half, narrow = d // 2, sizes.head_hidden_size
    last = conv(narrow, sizes.number_output_channels, 1, bias=True)
    depth = Block({"0": conv(d, half, 3, bias=True), "2": conv(half, narrow, 3, bias=True), "4": last})
    head = block(
        reassemble_stage=block(layers=Block(layers), readout_projects=Block(read) if sizes.projected else None),
        convs=Block(convs),
        fusion_layers=Block(fusions),
        conv_depth=block(head=depth),
    )
    return block(backbone=families.tree(backbone), head=head)
