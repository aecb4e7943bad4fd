"""DEIMv2: D-FINE over DINOv3 or a small HGNetV2, with gated networks and an encoder that sums (arXiv:2509.20787)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.detection import detecting, perceptron, second_names
from hfcount.architectures.components.distributions import Distributions, distributing, weighing
from hfcount.architectures.components.rt_detr import hybrid_encoder, normed_linear, separable
from hfcount.architectures.layers import altered, embedding, layer_norm, rms_norm, stack, swiglu
from hfcount.architectures.layers.backbones import channels, chosen
from hfcount.architectures.layers.convolution import frozen, normed
from hfcount.architectures.layers.vision import square_attention
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

_COLOURS = 3
MODEL_TYPES = ("deimv2",)  # transformers 5.23: modeling_deimv2.py
IGNORED = tuple(
    "feat_strides anchor_image_size eval_size positional_encoding_temperature with_box_refine use_focal_loss "
    "use_dense_one_to_one".split()
)

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")


class Deimv2(Sizes):
    """Sizes specific to DEIMv2.

    `upper` are the widths of the backbone's features, `inner` those that the encoder takes, and `lower` is that of all
    `lowers` for the decoder.
    """

    upper: tuple[int, ...]
    inner: tuple[int, ...]
    lowers: int
    lower: int
    distributions: Distributions
    tied: bool = flag("tie_word_embeddings", absent=True)
    shared: bool = flag("share_bbox_head", absent=False)
    gated: bool = flag("use_gateway", absent=True)
    trailing: bool = flag("encoder_has_trailing_conv", absent=True)
    lite: bool = derived(lambda c: c.str("encoder_type") == "lite")
    planes: int = size("n_a", "spatial_tuning_adapter_inplanes")


def spec(c: Config) -> Spec[Deimv2]:
    backbone = families.backbone(c)
    widths = channels(chosen(c.part("backbone_config")), backbone)
    upper, lower = c.ints("encoder_in_channels", least=1), c.ints("decoder_in_channels", least=1)
    sizes = Deimv2.read(
        c,
        upper=tuple(widths),
        inner=tuple(keys.dim(f"E{number}", width) for number, width in enumerate(upper, 1)),
        lowers=len(lower),
        lower=keys.dim("C_d", lower[-1]),
        distributions=distributing(c),
    )
    model = detecting(c, _HEADS, backbone, sizes, inside="encoder_hidden_dim")
    if sizes.shared and not sizes.tied and model.head != "base":
        raise UnknownArchitecture(f"{c.where}: boxes that share_bbox_head shares, with untied predictions.")
    return model


def _features(s: Spec[Deimv2], features: Block) -> Block:
    """The backbone and its `features`, projected for the encoder."""
    sizes, inner, backbone = s.own, s.part("encoder").hidden, s.part("backbone")
    if backbone.family == "dinov3_vit":
        widths = [backbone.hidden + times * sizes.planes for times in (2, 4, 4)]
        joined = {str(place): _step(width, inner, 1) for place, width in enumerate(widths)}
        return block(
            backbone=features, spatial_tuning_adapter=_adapter(sizes.planes), fusion_proj=Block(joined, "projector")
        )
    taken = {str(place): _step(width, inner, 1) for place, width in enumerate(sizes.upper)}
    model = frozen(features) if sizes.distributions.frozen else features
    return block(model=model, encoder_input_proj=None if sizes.lite else Block(taken, "projector"))


def _encoder(s: Spec[Deimv2]) -> Block:
    """The hybrid encoder, as `hybrid_encoder` but with aifi for its layers, or a lighter one of convolutions alone."""
    sizes, of, inner = s.own, s.own.distributions, s.part("encoder")
    d, norm = inner.hidden, layer_norm(inner.hidden)
    joined = _fused(d, of.encoder_fused, of.blocks, sizes.trailing)
    if sizes.lite:
        taken = {str(place): _step(width, d, 1) for place, width in enumerate(sizes.inner)}
        same = _step(d, d, 1)
        return block(
            input_proj=Block(taken),
            down_conv1=same,
            down_conv2=same,
            bi_fusion_conv=same,
            fpn_block=joined,
            pan_block=joined,
        )

    def layer_block(layer: Layer) -> Block:
        network = perceptron(d, layer.dense.width, d, component="mlp")
        return block(self_attn=square_attention(d), self_attn_layer_norm=norm, mlp=network, final_layer_norm=norm)

    aifi = Repeat(Indices.below(of.attended), block(layers=stack(inner.layers, layer_block)))
    encoder = hybrid_encoder(inner, len(sizes.inner), of.attended, joined, separable(d))
    return altered(encoder, encoder=None, aifi=aifi)


def _decoder(s: Spec[Deimv2]) -> dict[str, Node]:
    """Layers of attention and a gated network, and what refines boxes."""
    d, sizes, of, norm = s.hidden, s.own, s.own.distributions, rms_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        gate = block("mlp", gate=Linear(2 * d, 2 * d, True), norm=norm)
        return block(
            self_attn=square_attention(d),
            self_attn_layer_norm=norm,
            encoder_attn=weighing(d, layer.attention.heads, of.points),
            encoder_attn_layer_norm=None if sizes.gated else norm,
            mlp=swiglu(d, layer.dense.width // 2, bias=True),
            final_layer_norm=norm,
            gateway=gate if sizes.gated else None,
        )

    return {"layers": stack(s.layers, layer_block), "query_pos_head": perceptron(4, d, d, d), **of.refining(d, s.depth)}


def blueprint(s: Spec[Deimv2]) -> Block:
    d, sizes, of = s.hidden, s.own, s.own.distributions
    same, levels = int(sizes.lower) == int(d), max(sizes.lowers, of.num_feature_levels)
    sides = [1 if place < sizes.lowers else 3 for place in range(levels)]
    taken = {str(place): _step(sizes.lower, d, side) for place, side in enumerate(sides)}

    body = block(
        conv_encoder=_features(s, families.tree(s.part("backbone"))),
        encoder=_encoder(s),
        denoising_class_embed=embedding(s.labels + 1, d) if of.denoised else None,
        weight_embedding=embedding(of.num_queries, d) if of.learned else None,
        enc_output=normed_linear(d),
        enc_score_head=Linear(d, s.labels, True, "other"),
        enc_bbox_head=perceptron(d, d, d, 4),
        decoder_input_proj=None if same else Block(taken, "projector"),
        decoder=Block({**_decoder(s), **({} if s.head == "base" else of.predicting(s, sizes.shared))}),
    )
    if s.head == "base":
        return body
    further = second_names(s.depth, s.labels, d, d, d, of.sides) if sizes.tied else of.predicting(s)
    if sizes.shared:
        further["bbox_embed"] = Repeat(Indices.below(s.depth), of.same_boxes(d))
    return block(model=body, **further)


def _step(inputs: int, outputs: int, side: int, groups: int = 1) -> Block:
    """A convolution and its norm. Tensors: conv, norm."""
    return normed(inputs, outputs, side, groups=groups, names=("conv", "norm"))


def _fused(d: int, inner: int, blocks: int, trailing: bool) -> Block:
    """Two levels, summed, by ever deeper ways that are joined at the end. Tensors: conv1, conv2, csp_rep1, csp_rep2.

    `trailing` says whether each way ends in a further convolution.
    """
    repvgg = block(conv1=_step(inner, inner, 3), conv2=_step(inner, inner, 1))

    def way(inputs: int) -> Block:
        deep = Repeat(Indices.below(blocks), repvgg) if blocks else None
        last = _step(inner, inner, 3) if trailing else None
        return block(conv1=_step(inputs, 2 * inner, 1), bottlenecks=deep, conv2=last)

    return block(conv1=_step(d, 2 * d, 1), csp_rep1=way(d), csp_rep2=way(inner), conv2=_step(2 * d + 2 * inner, d, 1))


def _adapter(planes: int) -> Block:
    """Features of an image at four scales. Tensors: stem_conv, conv2, conv3 and conv4, each conv and norm."""
    twice, four = 2 * planes, 4 * planes
    return block(
        "projector",
        stem_conv=_step(_COLOURS, planes, 3),
        conv2=_step(planes, twice, 3),
        conv3=_step(twice, four, 3),
        conv4=_step(four, four, 3),
    )
