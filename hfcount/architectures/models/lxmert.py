"""LXMERT: layers for words, for an image's regions, and across both (arXiv:1908.07490)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, lm_head
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.encoders import bert_attention, bert_base, bert_layer, pooler
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

MODEL_TYPES = ("lxmert",)  # transformers 5.23: modeling_lxmert.py
IGNORED = ("num_hidden_layers", "task_matched", "task_mask_lm")

_HEADS = ("ForPreTraining", "Model", "ForQuestionAnswering")


class Lxmert(Sizes):
    visual_feat_dim: int = size("d_v")
    visual_pos_dim: int = size("d_b")
    num_qa_labels: int = size("c_q")
    num_object_labels: int = size("c_o")
    num_attr_labels: int = size("c_a")
    x_layers: int = count()
    r_layers: int = count()
    visual_obj_loss: bool = flag(absent=True)
    visual_attr_loss: bool = flag(absent=True)
    visual_feat_loss: bool = flag(absent=True)
    task_obj_predict: bool = flag(absent=True)
    task_qa: bool = flag(absent=True)


def spec(c: Config) -> Spec[Lxmert]:
    d, rows = c.int("hidden_size"), c.int("max_position_embeddings")
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"))
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True))
    types, sizes = c.int("type_vocab_size"), Lxmert.read(c)
    layers = keys.uniform(layer, keys.layer_count(c, "l_layers"))
    model = keys.decoder_spec(c, layers, heads=_HEADS, tied=True, hidden=d, positions=rows, token_types=types)
    return model.replace(causal=False).having(sizes)


def blueprint(s: Spec[Lxmert]) -> Block:
    d, of, layer = s.hidden, s.own, s.layers[0].layer
    attention, plain = bert_attention(d, layer.attention), bert_layer(d, layer)
    inner, outer = plain.children["intermediate"], plain.children["output"]
    across = Block({"att" if name == "self" else name: part for name, part in attention.children.items()})
    crossed = block(
        visual_attention=across,
        lang_self_att=attention,
        visn_self_att=attention,
        lang_inter=inner,
        lang_output=outer,
        visn_inter=inner,
        visn_output=outer,
    )
    features = block(
        "embedding",
        visn_fc=Linear(of.visual_feat_dim, d, True),
        visn_layer_norm=layer_norm(d),
        box_fc=Linear(of.visual_pos_dim, d, True),
        box_layer_norm=layer_norm(d),
    )
    words = bert_base(s, pooler=pooler(s, heads=s.heads)).children
    encoder = block(
        visn_fc=features,
        layer=Repeat(s.layers[0].indices, plain),
        x_layers=Repeat(Indices.below(of.x_layers), crossed),
        r_layers=Repeat(Indices.below(of.r_layers), plain),
    )
    body = Block({**words, "encoder": encoder})
    named = Linear(2 * d, of.num_qa_labels, True)
    steps: dict[str, Node] = {"0": Linear(d, 2 * d, True), "2": layer_norm(2 * d), "3": named}
    answer = block("other", logit_fc=Block(steps))
    return headed(s, "lxmert", body, pretraining=_pretraining(s, answer), question_answering=block(answer_head=answer))


def _pretraining(s: Spec[Lxmert], answer: Block) -> Block:
    d, of = s.hidden, s.own
    transform = block(dense=Linear(d, d, True), LayerNorm=layer_norm(d))
    decoder = lm_head(s, "lxmert.embeddings.word_embeddings.weight")
    words = block("lm_head", transform=transform, bias=Tensor((s.vocab,)), decoder=decoder)
    losses = block(
        obj=Linear(d, of.num_object_labels, True) if of.visual_obj_loss else None,
        attr=Linear(d, of.num_attr_labels, True) if of.visual_attr_loss else None,
        feat=Linear(d, of.visual_feat_dim, True) if of.visual_feat_loss else None,
    )
    regions = block("other", transform=transform, decoder_dict=losses)
    return block(
        cls=block(predictions=words, seq_relationship=Linear(d, 2, True, "other")),
        obj_predict_head=regions if of.task_obj_predict else None,
        answer_head=answer if of.task_qa else None,
    )
