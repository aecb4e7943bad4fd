"""HGNetV2: stages whose blocks join what each of their convolutions made (PaddleClas, PP-HGNetV2)."""

from hfcount.architectures import keys
from hfcount.architectures.components.lcnet import affine_conv, stem
from hfcount.architectures.layers.classic import classifier
from hfcount.architectures.layers.convolution import led
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("hgnet_v2",)  # transformers 5.23: modeling_hgnet_v2.py
IGNORED = (
    *("num_channels", "depths", "stem_strides", "stage_downsample_strides", "out_indices", "out_features"),
    *("stage_names", "return_idx", "freeze_stem_only", "freeze_norm", "lr_mult_list"),
)

_HEADS = keys.named(("ForImageClassification",), Backbone="backbone")
_SIZES = (
    ("stage_in_channels", "C"),
    ("stage_mid_channels", "r"),
    ("stage_kernel_size", "w"),
    ("stage_numb_of_layers", "n"),
)


class HgnetV2Layer(Record):
    """Sizes of a layer of HGNetV2: the channels that its stage takes, those inside it, and its convolutions."""

    inputs: int
    narrow: int
    kernel: int
    convolutions: int
    downsample: bool
    light: bool


class HgnetV2(Sizes):
    """Sizes specific to HGNetV2; `stem` are the channels of its stem."""

    stem: tuple[int, int, int]
    affine: bool = flag("use_learnable_affine_block", absent=False)


def spec(c: Config) -> Spec[HgnetV2]:
    outputs, stem = c.ints("stage_out_channels"), keys.each(c, "stem_channels", 3, "s")
    count = len(c.ints("stage_in_channels"))
    sizes = [keys.each(c, name, count, symbol) for name, symbol in _SIZES]
    switches = [c.entries(name) for name in ("stage_downsample", "stage_light_block")]
    if any(len(given) != count for given in (outputs, *switches)):
        raise c.error(
            "list-length",
            "the lists of the stages are of several lengths.",
            "stage_in_channels",
            "Correct one of them.",
        )
    known = c.ints("hidden_sizes", least=1)
    # What a model around it takes for the widths; they need not be those of the stages.
    features: list[int] = [keys.dim(f"f{number + 1}", width) for number, width in enumerate(known)]
    kinds = [
        HgnetV2Layer(
            inputs=before, narrow=narrow, kernel=side, convolutions=many, downsample=bool(coarser), light=bool(light)
        )
        for before, narrow, side, many, coarser, light in zip(*sizes, *switches, strict=True)
    ]
    layers = keys.stages(c, outputs, depths=c.ints("stage_num_blocks"), own=kinds)
    first = keys.dim("d0", c.int("embedding_size"))
    announced = features[:count] if len(known) >= count else [layer.layer.width for layer in layers]
    model_sizes = HgnetV2.read(c, stem=(stem[0], stem[1], stem[2]))
    d = keys.dim("d", known[-1])
    model = keys.imaging(c, layers, _HEADS, hidden=d, uncounted=keys.COARSER)
    return model.replace(features=(first, *announced)).having(model_sizes)


def blueprint(s: Spec[HgnetV2]) -> Block:
    affine, stages = s.own.affine, dict[str, Block]()

    def layer(inputs: int, outputs: int, side: int, groups: int = 1, active: bool = True) -> Block:
        return affine_conv(inputs, outputs, side, groups, affine and active)

    def joining(inputs: int, stage: Layer) -> Block:
        sizes, d, half = stage.sizes(HgnetV2Layer), stage.width, stage.width // 2
        narrow, count, side = sizes.narrow, sizes.convolutions, sizes.kernel

        def convolved(before: int) -> Block:
            if not sizes.light:
                return layer(before, narrow, side)
            return block(conv1=layer(before, narrow, 1, active=False), conv2=layer(narrow, narrow, side, narrow))

        joined = {"0": layer(inputs + count * narrow, half, 1), "1": layer(half, d, 1)}
        layers = led(count, convolved(inputs), convolved(narrow)) if count > 0 else None
        return block(layers=layers, aggregation=Block(joined))

    for number, part in enumerate(s.layers):
        first, shape, count = part.layer, part.layer.sizes(HgnetV2Layer), part.indices.count
        before, d = shape.inputs, first.width
        coarser = layer(before, before, 3, before, active=False) if shape.downsample else None
        blocks = led(count, joining(before, first), joining(d, first)) if count else None
        stages[str(number)] = block(downsample=coarser, blocks=blocks)
    start = stem(*s.own.stem, affine)
    fc = classifier(s) if s.head == "image_classification" else None
    return block(embedder=start, encoder=block(stages=Block(stages)), fc=fc)
