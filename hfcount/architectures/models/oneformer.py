"""OneFormer: Mask2Former told its task in words, and trained with captions of masks (arXiv:2211.06220)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.masks import LEVELS, Masked, fused_attention, masking, numbered_steps
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.backbones import channels, chosen
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.vision import square_attention
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block, buffer

MODEL_TYPES = ("oneformer",)  # transformers 5.23: modeling_oneformer.py
IGNORED = ("train_num_points", "ignore_value", "enforce_input_proj")

_HEADS = keys.named(ForUniversalSegmentation="universal_segmentation", Model="base")


class Told(Sizes):
    """The width of a mask, what tells the task, and the encoder of captions, which only training needs."""

    mask_dim: int = size("d_m")
    query_dec_layers: int = count("N_q")
    is_training: bool = flag(absent=False)
    context_length: int = size("n_c", "text_encoder_context_length")
    n_ctx: int = size("n_x", "text_encoder_n_ctx", minimum=0)
    text_layers: int = count("N_t", "text_encoder_num_layers")
    text_projections: int = size("N_p", "text_encoder_proj_layers", maximum=64)
    task_seq_len: int = size("n_t")
    text_width: int = size("d_t", "text_encoder_width")
    text_vocab_size: int = size("n_w", "text_encoder_vocab_size")


class OneFormer(Record):
    masks: Masked
    task: Told


def spec(c: Config) -> Spec[OneFormer]:
    backbone = families.backbone(c)
    widths = channels(chosen(c.part("backbone_config")), backbone)
    task = Told.read(c)
    body = masking(c, _HEADS, backbone, widths, "conv_dim", "strides")
    return body.having(OneFormer(masks=body.own, task=task))


def _texts(d: int, of: Told) -> Block:
    """The encoder of captions."""
    wide = of.text_width
    norm = layer_norm(wide)
    layer = block(layer_norm1=norm, self_attn=fused_attention(wide), layer_norm2=norm, mlp=mlp(wide, 4 * wide))
    words = block(
        positional_embedding=Tensor((of.context_length, wide), component="embedding"),
        transformer=block(layers=Repeat(Indices.below(of.text_layers), layer)),
        ln_final=norm,
        token_embedding=embedding(of.text_vocab_size, wide),
    )
    projector = numbered_steps(*([wide] + [d] * of.text_projections))
    prompt = embedding(of.n_ctx, wide) if of.n_ctx else None
    return block(text_encoder=words, text_projector=block(layers=projector), prompt_ctx=prompt)


def blueprint(s: Spec[OneFormer]) -> Block:
    d, of, norm, inner, labels = s.hidden, s.own.task, layer_norm(s.hidden), s.part("encoder").hidden, s.labels + 1
    wide = s.layers[0].layer.dense.width

    def layer(_: Layer) -> Block:
        network = block(linear1=Linear(d, wide, True, "mlp"), linear2=Linear(wide, d, True, "mlp"), norm=norm)
        return block(
            cross_attn=block(multihead_attn=fused_attention(d), norm=norm),
            self_attn=block(self_attn=square_attention(d, out="out_proj"), norm=norm),
            ffn=network,
        )

    prepared = block(
        self_attn=fused_attention(d),
        multihead_attn=fused_attention(d),
        linear1=Linear(d, wide, True, "mlp"),
        linear2=Linear(wide, d, True, "mlp"),
        norm1=norm,
        norm2=norm,
        norm3=norm,
    )
    preparing = block(layers=Repeat(Indices.below(of.query_dec_layers), prepared), norm=norm)
    decoder = block(
        query_transformer=block(decoder=preparing),
        decoder_norm=norm,
        layers=stack(s.layers, layer),
        query_input_projection=conv(inner, d, 1, bias=True),
        class_embed=Linear(d, labels, True, "other"),
        mask_embed=block(layers=numbered_steps(d, d, d, of.mask_dim)),
    )
    pixels = s.own.masks.pixels(s.part("encoder"), of.mask_dim)
    body = block(
        pixel_level_module=block(encoder=families.tree(s.part("backbone")), decoder=pixels),
        transformer_module=block(
            queries_embedder=embedding(s.own.masks.num_queries, d),
            decoder=decoder,
            level_embed=embedding(LEVELS, d),
        ),
        task_encoder=block(task_mlp=block(layers=numbered_steps(of.task_seq_len, d, d))),
        text_mapper=_texts(d, of) if of.is_training else None,
    )
    heads = block(criterion=block(empty_weight=buffer(labels), logit_scale=Tensor((), component="other")))
    return headed(s, "model", body, universal_segmentation=heads)
