"""RF-DETR: LW-DETR over a DINOv2 whose features are joined at one scale, also with masks (arXiv:2511.09554)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.detection import perceptron, sampling
from hfcount.architectures.components.lw_detr import Grouped, GroupedLayer, grouped_queries, split_stage
from hfcount.architectures.layers import backbones, embedding, layer_norm, mlp, stack, swiglu
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.convolution import conv, depthwise
from hfcount.architectures.layers.vision import patch_convolution, vit_attention
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import GQA, Dense, Layer, Record, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("rf_detr",)  # transformers 5.23: modeling_rf_detr.py
IGNORED = ("mask_point_sample_ratio", "mask_downsample_ratio")
# RF-DETR's names in its release.
SPELLINGS = {
    r"^model\.(?:model\.)?(?!transformer\.enc_output)": "",
    r"\bbackbone\.0\.encoder\.encoder\.": "backbone.backbone.",
    r"\bbackbone\.0\.projector\.": "backbone.projector.",
    r"\bprojector\.stages\.0\.0\.m\.": "projector.projector_layer.bottlenecks.",
    r"\bprojector\.stages\.0\.0\.": "projector.projector_layer.",
    r"\bprojector\.stages\.0\.1\.": "projector.layer_norm.",
    r"\bcv([12])\.conv\.": r"conv\1.conv.",
    r"\bcv([12])\.bn\.": r"conv\1.norm.",
    r"\btransformer\.": "",
    r"(?<=decoder\.)norm\.": "layernorm.",
    r"(decoder\.layers\.\d+)\.norm1\.": r"\1.self_attn_layer_norm.",
    r"(decoder\.layers\.\d+)\.norm2\.": r"\1.cross_attn_layer_norm.",
    r"(decoder\.layers\.\d+)\.norm3\.": r"\1.layer_norm.",
    r"(decoder\.layers\.\d+)\.linear([12])\.": r"\1.mlp.fc\2.",
    r"\bself_attn\.out_proj\.": "self_attn.o_proj.",
    r"\brefpoint_embed\.": "reference_point_embed.",
    **{rf"\battention\.attention\.{name}\.": f"attention.{name[0]}_proj." for name in ("query", "key", "value")},
    r"\battention\.output\.dense\.": "attention.o_proj.",
    r"^segmentation_head\.bias$": "segmentation_bias",
    r"^segmentation_head\.": "",
    r"\bquery_features_block\.layers\.0\.": "query_features_block.mlp.fc1.",
    r"\bquery_features_block\.layers\.2\.": "query_features_block.mlp.fc2.",
    r"\bquery_features_block\.norm_in\.": "query_features_block.norm.",
    r"^(blocks\.\d+)\.norm\.": r"\1.layernorm.",
    r"^(blocks\.\d+)\.dwconv\.": r"\1.depthwise_conv.",
    r"^(blocks\.\d+)\.pwconv1\.": r"\1.pointwise_conv.",
}
MERGED = {f"in_proj_{end}": tuple(f"{letter}_proj.{end}" for letter in "qkv") for end in ("weight", "bias")}

_HEADS = keys.named(
    ForObjectDetection="object_detection", Model="base", ForInstanceSegmentation="instance_segmentation"
)


class RfDetr(Record):
    queries: Grouped
    num_feature_levels: int
    intermediate_size: int


def spec(c: Config) -> Spec[RfDetr]:
    levels, wide = keys.dim("n_l", c.int("num_feature_levels")), keys.dim("d_m", c.int("intermediate_size"))
    model = grouped_queries(c, backbones.only(c, families.backbone(c), "rf_detr_dinov2"), _HEADS)
    return model.having(RfDetr(queries=model.own, num_feature_levels=levels, intermediate_size=wide))


def blueprint(s: Spec[RfDetr]) -> Block:
    d, of, backbone, norm = s.hidden, s.own.queries, s.part("backbone"), layer_norm(s.hidden)
    points, queries = s.own.num_feature_levels * of.decoder_n_points, of.num_queries * of.group_detr

    def step(into: int, out: int, side: int) -> Block:
        return block(conv=conv(into, out, side), bn=layer_norm(out))

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=_packed_attention(d, layer.attention),
            norm1=norm,
            cross_attn=sampling(d, points, layer.sizes(GroupedLayer).cross_heads),
            norm2=norm,
            linear1=Linear(d, layer.dense.width, True, "mlp"),
            linear2=Linear(layer.dense.width, d, True, "mlp"),
            norm3=norm,
        )

    width = backbone.sizes(RfDetrDinov2).outputs * backbone.hidden
    joined = split_stage(width, d, of.inner, of.c2f_num_blocks, step, ("cv1", "cv2", "m"))
    projector = block("projector", stages=Block({"0": Block({"0": joined, "1": norm})}))
    decoder = block(layers=stack(s.layers, layer_block), norm=norm, ref_point_head=perceptron(2 * d, d, d))
    body = {
        "backbone": Block({"0": block(encoder=block(encoder=families.tree(backbone)), projector=projector)}),
        "transformer": block(decoder=decoder, **of.tensors(d, s.labels)),
        "query_feat": embedding(queries, d),
        "refpoint_embed": embedding(queries, 4),
    }
    if s.head == "base":
        return Block(body)
    children = block(**body, class_embed=Linear(d, s.labels, True, "other"), bbox_embed=perceptron(d, d, d, 4))
    masks = _masking(d, s.own.intermediate_size, s.depth) if s.head == "instance_segmentation" else None
    return children if masks is None else Block({**children.children, "segmentation_head": masks})


def _packed_attention(d: int, a: GQA) -> Block:
    """Attention as torch names it. Tensors: in_proj_weight (3·h·h_d, d), out_proj (d, h·h_d), with biases as `a` says.

    The bias of the first is in_proj_bias.
    """
    wide = a.heads * a.head_dim
    return block(
        "attention",
        in_proj_weight=Tensor((3 * wide, d)),
        in_proj_bias=Tensor((3 * wide,)) if a.qkv_bias else None,
        out_proj=Linear(wide, d, a.out_bias),
    )


def _masking(d: int, width: int, layers: int) -> Block:
    """Masks from products of queries and places, which `layers` blocks convolve; `width` is of the queries' network.

    Tensors: blocks, spatial_features_proj, query_features_block, query_features_proj, bias (1).
    """
    norm, square = layer_norm(d), Linear(d, d, True)
    network = {"0": Linear(d, width, True), "2": Linear(width, d, True)}
    return block(
        "other",
        blocks=Repeat(Indices.below(layers), block(dwconv=depthwise(d, 3, bias=True), norm=norm, pwconv1=square)),
        spatial_features_proj=conv(d, d, 1, bias=True),
        query_features_block=block(norm_in=norm, layers=Block(network)),
        query_features_proj=square,
        bias=Tensor((1,)),
    )


_BACKBONE_HEADS = keys.named(Backbone="backbone")


class RfDetrDinov2(Sizes):
    gated: bool
    use_mask_token: bool = flag(absent=True)
    outputs: int


def backbone_spec(c: Config) -> Spec[RfDetrDinov2]:
    """RF-DETR's DINOv2: attention within windows, except where features are given out (arXiv:2304.07193)."""
    d, gated = c.int("hidden_size"), c.bool("use_swiglu_ffn", default=False)
    wide = c.times("mlp_ratio", d)
    ffn = Dense(width=round_up(2 * wide // 3, 8) if gated else wide, bias=True)
    bias, heads = c.bool("qkv_bias", default=True), c.int("num_attention_heads")
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, indivisible="run", own_width=True)
    depth = keys.layer_count(c)
    outputs = len(backbones.features(c, depth))
    if not outputs:
        raise c.error(
            "out-of-range", "out_indices names no stage, and those before the last one see windows.", "out_indices"
        )
    sizes = RfDetrDinov2.read(c, gated=gated, outputs=keys.dim("n_o", outputs))
    layers, rows = keys.uniform(Layer(mixer=mixer, ffn=ffn), depth), keys.squares(c) + 1
    return keys.imaging(c, layers, _BACKBONE_HEADS, hidden=d, positions=rows, patches=keys.patches(c)).having(sizes)


def backbone_blueprint(s: Spec[RfDetrDinov2]) -> Block:
    d, of, scale, norm = s.hidden, s.own, block(lambda1=Tensor((s.hidden,))), layer_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        return block(
            norm1=norm,
            attention=vit_attention(d, a) if s.adapted else mha(d, a, "o_proj"),
            layer_scale1=scale,
            norm2=norm,
            mlp=swiglu(d, width, bias=True) if of.gated else mlp(d, width),
            layer_scale2=scale,
        )

    embeddings = block(
        "embedding",
        cls_token=Tensor((1, 1, d)),
        mask_token=Tensor((1, d)) if of.use_mask_token else None,
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
    )
    return block(embeddings=embeddings, encoder=block(layer=stack(s.layers, layer_block)), layernorm=norm)


PARTS = (
    families.Family(
        ("rf_detr_dinov2",),
        backbone_spec,
        backbone_blueprint,
        ignored=tuple(
            "num_windows window_block_indexes num_register_tokens apply_layernorm reshape_hidden_states "
            "stage_names".split()
        ),
    ),
)
