"""Parts of OmDet-Turbo (arXiv:2403.06892)."""

from collections.abc import Sequence

from hfcount.parts.detection import detr_layer, named_attention, perceptron, sampling
from hfcount.parts.hybrid import hybrid_encoder, normed_linear, projected
from hfcount.parts.layers import altered
from hfcount.parts.model import embedding, stack
from hfcount.parts.norms import layer_norm
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block


def encoder(s: Spec, widths: Sequence[int]) -> Block:
    """The hybrid encoder over features that are so wide: as `hybrid_encoder`, with channel_projection_layers."""
    inner, of = s.parts["encoder"], s.traits
    d = inner.hidden
    layers = stack(inner.layers, lambda one: altered(detr_layer(d, one), self_attn=named_attention(d)))
    attending = Repeat(Indices.below(of["attended"]), block(layers=layers))
    return altered(hybrid_encoder(s), channel_projection_layers=projected(widths, d), encoder=attending)


def decoder(s: Spec, widths: Sequence[int]) -> Block:
    """Queries that are told a task and classes in words, over features that are so wide.

    Tensors: channel_projection_layers, task_encoder, task_project if words are not d wide, layers, and heads: those of
    the encoder's proposals, and one for each layer.
    """
    d, of, norm, c = s.hidden, s.traits, layer_norm(s.hidden), s.traits["class_embed_dim"]
    box, each, between = perceptron(d, d, d, 4), Indices.below(s.depth), of["task_encoder_hidden_dim"]
    points, classes = of["num_feature_levels"] * of["decoder_num_points"], Linear(c, d, True, "other")

    def layer(one: Layer) -> Block:
        return block(
            self_attn=named_attention(d),
            norm1=norm,
            cross_attn=sampling(s.parts["encoder"].hidden, points, one.attention.heads),
            norm2=norm,
            linear1=Linear(d, one.dense.width, True, "mlp"),
            linear2=Linear(one.dense.width, d, True, "mlp"),
            norm3=norm,
        )

    task = {
        "linear1": Linear(c, between, True),
        "linear2": Linear(between, c, True),
    }
    return block(
        channel_projection_layers=projected(widths, d),
        task_encoder=block(mlp=Block(task, "mlp"), res1=block(norm1=layer_norm(c))),
        task_project=Linear(c, d, True, "projector") if int(c) != int(d) else None,
        layers=stack(s.layers, layer),
        tgt_embed=embedding(of["num_queries"], d) if of["learned"] else None,
        query_position_head=perceptron(4, 2 * d, d),
        encoder_vision_features=normed_linear(d),
        encoder_class_head=classes,
        encoder_bbox_head=box,
        decoder_class_head=Repeat(each, classes),
        decoder_bbox_head=Repeat(each, box),
    )
