"""PP-DocLayoutV2: RT-DETR for the parts of a page, and an encoder that finds their order (PaddleOCR)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.detection import UNSHAPED
from hfcount.architectures.components.layout import OnPage
from hfcount.architectures.components.rt_detr import Hybrid, hybrid, refining
from hfcount.architectures.layers import embedding, layer_norm, stack, within
from hfcount.architectures.layers.conversions import HYBRID
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.encoders import bert_attention
from hfcount.mapper import Config, Sizes, part, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, block, obsolete

MODEL_TYPES = ("pp_doclayout_v2",)  # transformers 5.23: modeling_pp_doclayout_v2.py
IGNORED = (
    *(*UNSHAPED, "feat_strides", "num_denoising"),
    *("class_order", "max_rel_pos", "max_rel_2d_pos", "relation_bias_theta", "relation_bias_scale"),
)
SPELLINGS = HYBRID

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")


class ReadingOrder(Sizes):
    """An encoder of boxes and their labels, and a score for each pair: which of them is read first."""

    type_vocab_size: int = size("n_t")
    num_classes: int = size("n_c")
    relation_bias_embed_dim: int = size("d_b")
    global_pointer_head_size: int = size("d_g")
    page: OnPage = part(OnPage)


class PPDocLayoutV2(Record):
    hybrid: Hybrid
    learned: bool


def spec(c: Config) -> Spec[PPDocLayoutV2]:
    order = c.part("reading_order_config")
    d = order.int("hidden_size")
    alone = keys.head_of(c, _HEADS)[1] == "base"  # which is built without an order
    mixer = keys.multi_head(order, d, order.int("num_attention_heads"), indivisible="run" if alone else "refused")
    layer = Layer(mixer=mixer, ffn=keys.dense(order, bias=True))
    sizes = ReadingOrder.read(order)
    reading = Spec(
        family=c.family,
        vocab=order.int("vocab_size"),
        hidden=d,
        layers=tuple(keys.uniform(layer, keys.layer_count(order))),
        positions=order.int("max_position_embeddings"),
        causal=False,
        own=sizes,
    )
    learned = c.bool("learn_initial_query", default=False)
    model = hybrid(c, _HEADS, families.backbone(c), parts={"reading": reading})
    return model.having(PPDocLayoutV2(hybrid=model.own, learned=learned))


def _reading(s: Spec) -> Block:
    """The encoder of boxes and their labels, and its scores."""
    d, sizes, norm, heads = s.hidden, s.sizes(ReadingOrder), layer_norm(s.hidden), s.layers[0].layer.attention.heads
    across, rows = 4 * sizes.page.coordinate_size + 2 * sizes.page.shape_size, 0 if s.positions is None else s.positions

    def layer_block(layer: Layer) -> Block:
        attention = bert_attention(d, layer.attention, norm=False)
        return block(
            attention=within(attention, output=block(norm=norm)),
            intermediate=block("mlp", dense=Linear(d, layer.dense.width, True)),
            output=block(dense=Linear(layer.dense.width, d, True, "mlp"), norm=norm),
        )

    embeddings = block(
        word_embeddings=embedding(s.vocab, d),
        position_embeddings=embedding(rows, d),
        token_type_embeddings=embedding(sizes.type_vocab_size, d),
        position_ids=obsolete(1, rows, whole=True),
        **sizes.page.corners().children,
        norm=norm,
        spatial_proj=Linear(across, d, True, "embedding"),
    )
    related = conv(4 * sizes.relation_bias_embed_dim, heads, 1, bias=True)
    # The bins are stored, and what is added instead of them is computed from the boxes.
    stored = sizes.page.distances(heads, "dispensable").children
    return block(
        embeddings=embeddings,
        label_embeddings=embedding(sizes.num_classes, d),
        label_features_projection=Linear(d, d, True, "embedding"),
        encoder=block(layer=stack(s.layers, layer_block), **stored, rel_bias_module=block(pos_proj=related)),
        relative_head=block("other", dense=Linear(d, 2 * sizes.global_pointer_head_size, True)),
    )


def blueprint(s: Spec[PPDocLayoutV2]) -> Block:
    decodes, of = s.head != "base", s.own.hybrid
    decoder = refining(s, of.points, decodes)
    tower = families.tree(s.part("backbone"))
    body = of.tensors(s, tower, decoder, labelled=s.labels, learned=s.own.learned)
    return block(model=body, reading_order=_reading(s.part("reading"))) if decodes else body
