"""SAM 3: finds and segments whatever a text or boxes name (arXiv:2511.16719)."""

from itertools import pairwise

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.convolution import batch_norm, conv
from hfcount.architectures.layers.vision import clip_layer, convolution, square_attention
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Component, Linear, Repeat, Tensor, block

MODEL_TYPES = ("sam3", "sam3_lite_text")  # transformers 5.23: modeling_sam3.py, modeling_sam3_lite_text.py

_PARTS = {"geometry": "geometry_encoder", "joint": "detr_encoder", "queries": "detr_decoder", "mask": "mask_decoder"}


def spec(c: Config) -> Spec:
    vision, text = families.part(c, "vision_config"), families.part(c, "text_config")
    if text.family == "clip_text_model":
        text = text.replace(head="projection", out=c.part("text_config").int("projection_dim"))
    parts = {name: families.part(c, f"{key}_config") for name, key in _PARTS.items()}
    return keys.encoding(
        c, (), hidden=keys.dim("d", parts["joint"].hidden), parts={"vision": vision, "language": text, **parts}
    )


def blueprint(s: Spec) -> Block:
    queries, text = s.part("queries"), s.part("language")
    d, wide = queries.hidden, queries.layers[0].layer.dense.width
    inner = {name: families.tree(s.parts[key]) for key, name in _PARTS.items()}
    scoring = block(
        "other",
        text_mlp=_numbered_mlp(d, wide, d),
        text_mlp_out_norm=layer_norm(d),
        text_proj=Linear(d, d, True),
        query_proj=Linear(d, d, True),
    )
    return Block(
        {
            "vision_encoder": families.tower(s, "vision"),
            "text_encoder": families.tree(text),
            "text_projection": Linear(text.hidden, s.hidden, True, "projector"),
            **inner,
            "dot_product_scoring": scoring,
        }
    )


def detr_encoder_spec(c: Config) -> Spec:
    """SAM 3's encoder: an image's features attend to themselves and to a prompt (arXiv:2511.16719)."""
    return keys.tower(c, depth=("num_layers",), indivisible="built")


def detr_encoder_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            layer_norm1=layer_norm(d),
            self_attn=square_attention(d),
            cross_attn=square_attention(d),
            layer_norm2=layer_norm(d),
            mlp=mlp(d, layer.dense.width),
            layer_norm3=layer_norm(d),
        )

    return block(layers=stack(s.layers, layer_block))


class Sam3DetrDecoder(Sizes):
    num_queries: int = size("n_q")


def detr_decoder_spec(c: Config) -> Spec[Sam3DetrDecoder]:
    """SAM 3's decoder: queries attend to themselves, to the prompt and to the image (arXiv:2511.16719)."""
    sizes = Sam3DetrDecoder.read(c)
    return keys.tower(c, depth=("num_layers",), indivisible="built", further={"Decoder": "base"}).having(sizes)


def detr_decoder_blueprint(s: Spec[Sam3DetrDecoder]) -> Block:
    d, queries, heads = s.hidden, s.own.num_queries, s.layers[0].layer.attention.heads

    def layer_block(layer: Layer) -> Block:
        named = dict[str, Block]()
        for name in ("self_attn", "text_cross_attn", "vision_cross_attn"):
            named |= {name: square_attention(d), f"{name}_layer_norm": layer_norm(d)}
        return Block({**named, "mlp": mlp(d, layer.dense.width), "mlp_layer_norm": layer_norm(d)})

    return block(
        layers=stack(s.layers, layer_block),
        output_layer_norm=layer_norm(d),
        box_head=_numbered_mlp(d, d, d, 4),
        query_embed=embedding(queries, d),
        reference_points=embedding(queries, 4),
        presence_token=embedding(1, d),
        presence_head=_numbered_mlp(d, d, d, 1),
        presence_layer_norm=layer_norm(d),
        ref_point_head=_numbered_mlp(2 * d, d, d),
        box_rpb_embed_x=_numbered_mlp(2, d, heads),
        box_rpb_embed_y=_numbered_mlp(2, d, heads),
    )


class Sam3GeometryEncoder(Sizes):
    roi_size: int = size("w_o")


def geometry_spec(c: Config) -> Spec[Sam3GeometryEncoder]:
    """SAM 3's encoder of boxes: where they are, and what the image shows there (arXiv:2511.16719)."""
    sizes = Sam3GeometryEncoder.read(c)
    return keys.tower(c, depth=("num_layers",), indivisible="built").having(sizes)


def geometry_blueprint(s: Spec[Sam3GeometryEncoder]) -> Block:
    d, side = s.hidden, s.own.roi_size

    def layer_block(layer: Layer) -> Block:
        return block(
            layer_norm1=layer_norm(d),
            self_attn=square_attention(d),
            cross_attn=square_attention(d),
            layer_norm2=layer_norm(d),
            mlp=mlp(d, layer.dense.width),
            layer_norm3=layer_norm(d),
        )

    return block(
        label_embed=embedding(2, d),
        cls_embed=embedding(1, d),
        boxes_direct_project=Linear(4, d, True, "embedding"),
        boxes_pool_project=block("embedding", **convolution(d, d, side).children),
        boxes_pos_enc_project=Linear(d + 2, d, True, "embedding"),
        vision_layer_norm=layer_norm(d),
        final_proj=Linear(d, d, True, "other"),
        prompt_layer_norm=layer_norm(d),
        layers=stack(s.layers, layer_block),
        output_layer_norm=layer_norm(d),
    )


_EMBEDDER = 3  # layers of the network that embeds masks


class Sam3MaskDecoder(Sizes):
    num_upsampling_stages: int = count("n_u")


def mask_spec(c: Config) -> Spec[Sam3MaskDecoder]:
    """SAM 3's mask decoder: queries become masks over features at full resolution (arXiv:2511.16719)."""
    sizes = Sam3MaskDecoder.read(c)
    return keys.encoding(c, (), {"Decoder": "base"}, hidden=c.int("hidden_size")).having(sizes)


def mask_blueprint(s: Spec[Sam3MaskDecoder]) -> Block:
    d, stages = s.hidden, Indices.below(s.own.num_upsampling_stages)
    pixels = block(conv_layers=Repeat(stages, convolution(d, d, 3)), norms=Repeat(stages, layer_norm(d)))
    return block(
        pixel_decoder=pixels,
        mask_embedder=block("mlp", layers=Repeat(Indices.below(_EMBEDDER), Linear(d, d, True))),
        instance_projection=convolution(d, d, 1),
        semantic_projection=convolution(d, 1, 1),
        prompt_cross_attn=square_attention(d),
        prompt_cross_attn_norm=layer_norm(d),
    )


class Sam3LiteTextTextModel(Sizes):
    repmixer_kernel_size: int = size("w")


def lite_text_spec(c: Config) -> Spec[Sam3LiteTextTextModel]:
    """SAM 3 LiteText's text encoder, MobileCLIP's: convolutions in its first and last layer (arXiv:2311.17049)."""
    d, count = c.int("hidden_size"), keys.layer_count(c)
    ends = Indices.fixed(*({0, int(count) - 1} if count and c.bool("use_repmixer_blocks") else ()))
    attended = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=keys.dense(c, bias=True))
    mixed = Layer(ffn=keys.dense(c, bias=True))
    rest = Indices.below(count).difference(ends)
    layers = keys.split((ends, lambda: mixed), (rest, lambda: attended))
    sizes = Sam3LiteTextTextModel.read(c)
    rows, out = c.int("max_position_embeddings"), c.int("projection_dim")
    return keys.encoding(c, layers, vocab=c.int("vocab_size"), hidden=d, out=out, positions=rows).having(sizes)


def lite_text_blueprint(s: Spec[Sam3LiteTextTextModel]) -> Block:
    d, side, scale = s.hidden, s.own.repmixer_kernel_size, Tensor((s.hidden, 1, 1))

    def layer_block(layer: Layer) -> Block:
        if layer.mixer is not None:
            return clip_layer(d, layer)
        along, wide = conv(d, d, 1, side, groups=d), layer.dense.width
        mixer = block(batchnorm_skip=batch_norm(d), conv=along, batchnorm_conv=batch_norm(d))
        network = block("mlp", fc1=conv(d, wide, 1, bias=True), fc2=conv(wide, d, 1, bias=True))
        return block(
            layer_scale=scale,
            token_mixer=block(layer_scale=scale, reference_batchnorm=batch_norm(d), mixer=mixer),
            conv_feed_forward=block(depthwise_conv=along, depthwise_batchnorm=batch_norm(d), mlp=network),
        )

    places = block("embedding", position_embedding=Tensor((1, 1, s.positions or 0, d)))
    return block(
        embeddings=block(token_embedding=embedding(s.vocab, d), position_embedding=places),
        layers=stack(s.layers, layer_block),
        final_layer_norm=layer_norm(d),
        projection=Linear(d, s.output, component="projector"),
    )


def _numbered_mlp(*widths: int, component: Component = "mlp") -> Block:
    """A network through these widths. Tensors: layer1, layer2, ... with biases."""
    layers = {f"layer{place}": Linear(into, out, True) for place, (into, out) in enumerate(pairwise(widths), 1)}
    return Block(layers, component)


PARTS = (
    families.Family(("sam3_detr_encoder", "sam3_lite_text_detr_encoder"), detr_encoder_spec, detr_encoder_blueprint),
    families.Family(("sam3_detr_decoder", "sam3_lite_text_detr_decoder"), detr_decoder_spec, detr_decoder_blueprint),
    families.Family(("sam3_geometry_encoder", "sam3_lite_text_geometry_encoder"), geometry_spec, geometry_blueprint),
    families.Family(
        ("sam3_mask_decoder", "sam3_lite_text_mask_decoder"),
        mask_spec,
        mask_blueprint,
        ignored=("num_attention_heads",),
    ),
    families.Family(("sam3_lite_text_text_model",), lite_text_spec, lite_text_blueprint),
)
