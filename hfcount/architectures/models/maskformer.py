"""MaskFormer: DETR's decoder over a backbone, and a mask for each query (arXiv:2107.06278)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.detection import detr_layer
from hfcount.architectures.components.masks import convolved, numbered_steps
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.backbones import channels, chosen
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.convolution import conv
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block, buffer

MODEL_TYPES = ("maskformer",)  # transformers 5.23: modeling_maskformer.py
SPELLINGS = {r"\.o_proj\.": ".out_proj.", r"decoder\.layers\.(\d+)\.mlp\.fc": r"decoder.layers.\1.fc"}

_HEADS = keys.named(ForInstanceSegmentation="instance_segmentation", Model="base")


class MaskFormer(Sizes):
    """Sizes specific to MaskFormer; `widths` are those of the backbone's features."""

    widths: tuple[int, ...]
    num_queries: int
    fpn_feature_size: int = size("d_n")
    mask_feature_size: int = size("d_m")


def spec(c: Config) -> Spec[MaskFormer]:
    inner, queries = c.part("backbone_config"), c.part("decoder_config")
    kind = inner.str("model_type", default="") or inner.kind
    swin = kind in ("swin", "maskformer-swin")
    backbone = families.backbone(c, always="maskformer-swin" if swin else "")
    widths = channels(list(range(1, len(backbone.layers) + 1)) if kind == "swin" else chosen(inner), backbone)
    d, many = queries.int("d_model"), queries.int("decoder_attention_heads")
    mixer = keys.multi_head(queries, d, many, indivisible="built")
    layer = Layer(mixer=mixer, ffn=Dense(width=queries.int("decoder_ffn_dim"), bias=True))
    sizes = MaskFormer.read(c, widths=tuple(widths), num_queries=keys.dim("n_q", queries.int("num_queries")))
    layers = keys.uniform(layer, queries.int("decoder_layers", maximum=MAX_LAYERS))
    model = keys.decoder_spec(c, layers, vocab=0, hidden=d, layer_count=None, heads=_HEADS)
    return model.replace(causal=False).having(sizes).replace(parts={"backbone": backbone})


def blueprint(s: Spec[MaskFormer]) -> Block:
    d, sizes, fpn, widths = s.hidden, s.own, s.own.fpn_feature_size, s.own.widths
    finer = {
        str(place): block(proj=convolved(width, fpn, 1), block=convolved(fpn, fpn, 3))
        for place, width in enumerate(widths[:-1][::-1])
    }
    pyramid = block(stem=convolved(widths[-1], fpn, 3), layers=Block(finer))
    decoder = block(layers=stack(s.layers, lambda layer: detr_layer(d, layer, crossed=True)), layernorm=layer_norm(d))
    body = block(
        pixel_level_module=block(
            encoder=families.tree(s.part("backbone")),
            decoder=block(fpn=pyramid, mask_projection=conv(fpn, sizes.mask_feature_size, 3, bias=True)),
        ),
        transformer_module=block(
            queries_embedder=embedding(sizes.num_queries, d),
            input_projection=conv(widths[-1], d, 1, bias=True) if int(widths[-1]) != int(d) else None,
            decoder=decoder,
        ),
    )
    labels = s.labels + 1
    heads = block(
        class_predictor=Linear(d, labels, True, "other"),
        mask_embedder=numbered_steps(d, d, d, sizes.mask_feature_size),
        criterion=block(empty_weight=buffer(labels)),
    )
    return headed(s, "model", body, instance_segmentation=heads)
