"""SAM's mask decoder: tokens and image attend to each other, and tokens become masks (arXiv:2304.02643)."""

from collections.abc import Sequence

from hfcount.architectures import keys
from hfcount.architectures.components.sam import feed_forward, narrowed_attention
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.convolution import transposed
from hfcount.architectures.layers.vision import convolution
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block

# transformers 5.23: modeling_sam.py, modeling_sam_hq.py, modeling_sam2.py, modeling_sam2_video.py,
# modeling_sam3_tracker.py, modeling_sam3_tracker_video.py, modeling_edgetam.py, modeling_edgetam_video.py
MODEL_TYPES = (
    "sam_mask_decoder",
    "sam_hq_mask_decoder",
    "sam2_mask_decoder",
    "sam2_video_mask_decoder",
    "sam3_tracker_mask_decoder",
    "sam3_tracker_video_mask_decoder",
    "edgetam_mask_decoder",
    "edgetam_video_mask_decoder",
)
IGNORED = ("dynamic_multimask_via_stability",)


class SamMaskDecoder(Sizes):
    inner: int
    num_multimask_outputs: int = size("n_m", minimum=0)
    iou_head_depth: int = count("N_u")
    iou_head_hidden_dim: int = size("d_u")
    vit_dim: int


def spec(c: Config) -> Spec[SamMaskDecoder]:
    d = c.int("hidden_size")
    heads = c.int("num_attention_heads")
    mixer, inner = keys.multi_head(c, d, heads, indivisible="built"), _narrowed(c, d, heads)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("mlp_dim"), bias=True))
    sizes = SamMaskDecoder.read(
        c,
        inner=keys.dim("d_i", inner),
        vit_dim=keys.dim("d_w", c.int("vit_dim") if c.family == "sam_hq_mask_decoder" else 0),
    )
    return keys.encoding(c, keys.uniform(layer, keys.layer_count(c)), hidden=d).having(sizes)


def _narrowed(c: Config, d: int, heads: int) -> int:
    """The width of attention between tokens and image, of which each head takes as many features."""
    rate = c.int("attention_downsample_rate")
    inner = d // rate if rate else 0
    if heads and inner % heads:
        text = f"hidden_size {d:,} by attention_downsample_rate {rate:,} is {inner:,}, no multiple of {heads:,} heads."
        c.cannot_run("not-divisible", text, "attention_downsample_rate", "Correct one of them.")
    return inner


def blueprint(s: Spec[SamMaskDecoder]) -> Block:
    d, of, high, vit = s.hidden, s.own, s.family == "sam_hq_mask_decoder", s.own.vit_dim
    first = s.family in ("sam_mask_decoder", "sam_hq_mask_decoder")
    out, inner = "out_proj" if first else "o_proj", of.inner
    tokens, narrow, thin = of.num_multimask_outputs + 1, d // 4, d // 8

    def layer_block(layer: Layer) -> Block:
        wide = layer.dense.width
        # From SAM 2 on, the network of a layer is as deep as there are layers.
        network = mlp(d, wide, up="lin1", down="lin2") if first else feed_forward(d, wide, d, s.depth, "mlp")
        # In the first version the layers halve the width, whatever the config says.
        return _two_way_layer(d, d // 2 if first else inner, out, network)

    mask = feed_forward(d, d, thin, 3)
    fine = block(
        conv_s0=convolution(d, thin, 1),
        conv_s1=convolution(d, narrow, 1),
        obj_score_token=embedding(1, d),
        pred_obj_score_head=feed_forward(d, d, 1, 3),
    )
    # HQ-SAM's own token and convolutions over features of the vision tower (arXiv:2306.01567).
    children = block(
        hq_token=embedding(1, d),
        hq_mask_mlp=mask,
        compress_vit_conv1=transposed(vit, d, 2),
        compress_vit_norm=layer_norm(d),
        compress_vit_conv2=transposed(d, thin, 2),
        encoder_conv1=transposed(d, narrow, 2),
        encoder_norm=layer_norm(narrow),
        encoder_conv2=transposed(narrow, thin, 2),
        mask_conv1=convolution(thin, narrow, 3),
        mask_norm=layer_norm(narrow),
        mask_conv2=convolution(narrow, thin, 3),
    )
    body = block(
        iou_token=embedding(1, d),
        mask_tokens=embedding(tokens, d),
        transformer=_two_way(d, inner, out, stack(s.layers, layer_block)),
        upscale_conv1=transposed(d, narrow, 2),
        upscale_conv2=transposed(narrow, thin, 2),
        upscale_layer_norm=layer_norm(narrow),
        output_hypernetworks_mlps=Repeat(Indices.below(tokens), mask),
        iou_prediction_head=feed_forward(d, of.iou_head_hidden_dim, tokens, of.iou_head_depth),
    )
    more = children.children if high else {} if first else fine.children
    return Block({**body.children, **more})


def _two_way(d: int, inner: int, out: str, layer: Sequence[Node], norm: Block | None = None) -> Block:
    """Tokens and image that attend to each other, and tokens to the image once more.

    Tensors: layers, final_attn_token_to_image, of `inner` width, layer_norm_final_attn (d).
    """
    last = narrowed_attention(d, inner, out)
    return block(layers=tuple(layer), final_attn_token_to_image=last, layer_norm_final_attn=norm or layer_norm(d))


def _two_way_layer(d: int, inner: int, out: str, network: Block) -> Block:
    """A layer of `two_way`: tokens among themselves, tokens to image, `network`, image to tokens, each with a norm."""
    crossed, norm = narrowed_attention(d, inner, out), layer_norm(d)
    return block(
        self_attn=narrowed_attention(d, d, out),
        layer_norm1=norm,
        cross_attn_token_to_image=crossed,
        layer_norm2=norm,
        mlp=network,
        layer_norm3=norm,
        layer_norm4=norm,
        cross_attn_image_to_token=crossed,
    )
