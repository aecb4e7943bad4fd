"""PP-DocLayoutV2: RT-DETR for the parts of a page, and an encoder that finds their order (PaddleOCR)."""

from hfcount import families, keys
from hfcount.keys.detection import UNSHAPED, hybrid
from hfcount.mapper import Config
from hfcount.parts.conversions import HYBRID
from hfcount.parts.hybrid import querying, refining
from hfcount.parts.layout import reading_order
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("pp_doclayout_v2",)  # transformers 5.23: modeling_pp_doclayout_v2.py
IGNORED = (
    *(*UNSHAPED, "feat_strides", "num_denoising"),
    *("class_order", "max_rel_pos", "max_rel_2d_pos", "relation_bias_theta", "relation_bias_scale"),
)
SPELLINGS = HYBRID

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")
_SIZES = {
    "type_vocab_size": "n_t",
    "num_classes": "n_c",
    "relation_bias_embed_dim": "d_b",
    "global_pointer_head_size": "d_g",
}


def spec(c: Config) -> Spec:
    order = c.part("reading_order_config")
    d = order.int("hidden_size")
    alone = keys.head_of(c, _HEADS)[1] == "base"  # which is built without an order
    mixer = keys.multi_head(order, d, order.int("num_attention_heads"), uneven="run" if alone else "refused")
    layer = Layer(mixer=mixer, ffn=keys.dense(order, bias=True))
    sizes = {key: keys.sized(symbol, order.int(key)) for key, symbol in _SIZES.items()}
    reading = Spec(
        family=c.family,
        vocab=order.int("vocab_size"),
        hidden=d,
        layers=tuple(keys.alike(layer, keys.layer_count(order))),
        positions=order.int("max_position_embeddings"),
        causal=False,
        traits={**keys.on_page(order), **sizes},
    )
    learned = {"learned": c.bool("learn_initial_query", default=False)}
    return hybrid(c, _HEADS, families.backbone(c), traits=learned, parts={"reading": reading})


def blueprint(s: Spec) -> Block:
    whole = s.head != "base"
    body = querying(s, families.tree(s.parts["backbone"]), refining(s, whole), s.labels)
    return block(model=body, reading_order=reading_order(s.parts["reading"])) if whole else body
