"""XLM and FlauBERT: BERT's layers in lists of attention, norms and networks (arXiv:1901.07291, arXiv:1912.05372)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, mlp, stack
from hfcount.architectures.layers.classic import classifier, headed, positions, squad_head, summary
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("xlm", "flaubert")  # transformers 5.23: modeling_xlm.py, modeling_flaubert.py
IGNORED = tuple(
    "bos_index eos_index pad_index unk_index mask_index lang_id start_n_top end_n_top pre_norm gelu_activation"
    " sinusoidal_embeddings summary_first_dropout".split()
)

_HEADS = keys.named(
    ("Model", "ForSequenceClassification", "ForTokenClassification", "ForMultipleChoice"),
    WithLMHeadModel="masked_lm",
    ForQuestionAnsweringSimple="question_answering",
    ForQuestionAnswering="answer_spans",
)


class Xlm(Sizes):
    n_langs: int
    summary_use_proj: bool = flag(absent=True)
    summary_proj_to_labels: bool = flag(absent=True)


def spec(c: Config) -> Spec[Xlm]:
    d, rows = c.int("emb_dim", "hidden_size"), c.int("max_position_embeddings")
    if not c.bool("is_encoder", default=True):
        raise c.error(
            "not-described", "is_encoder is false, and there is no other implementation.", "is_encoder", "Make it true."
        )
    languages = c.int("n_langs", default=1) if c.bool("use_lang_emb", default=True) else 1
    sizes = Xlm.read(c, n_langs=keys.dim("n_l", languages) if languages > 1 else 0)
    mixer = keys.multi_head(c, d, c.int("n_heads", "num_attention_heads"))
    layer = Layer(mixer=mixer, ffn=Dense(width=4 * d))
    layers = keys.uniform(layer, keys.layer_count(c, "n_layers", "num_hidden_layers"))
    words = c.int("vocab_size", "n_words")
    model = keys.decoder_spec(c, layers, vocab=words, hidden=d, tied=True, heads=_HEADS, positions=rows)
    if c.bool("asm", default=False) and model.head == "masked_lm":
        raise c.error("not-described", "asm asks for an adaptive softmax, which is not described.", "asm")
    return model.replace(causal=c.bool("causal", default=False)).having(sizes)


def blueprint(s: Spec[Xlm]) -> Block:
    d, of = s.hidden, s.own
    square, norms = Linear(d, d, True), stack(s.layers, lambda _: layer_norm(d))
    attention = block("attention", **dict.fromkeys(("q_lin", "k_lin", "v_lin", "out_lin"), square))
    body = block(
        position_embeddings=positions(s),
        lang_embeddings=embedding(of.n_langs, d) if of.n_langs else None,
        embeddings=embedding(s.vocab, d),
        layer_norm_emb=layer_norm(d),
        attentions=stack(s.layers, lambda _: attention),
        layer_norm1=norms,
        ffns=stack(s.layers, lambda layer: mlp(d, layer.dense.width, up="lin1", down="lin2")),
        layer_norm2=norms,
    )
    outputs = s.labels if of.summary_proj_to_labels else d
    summed = summary(d, outputs if of.summary_use_proj else 0)
    return headed(
        s,
        "transformer",
        body,
        masked_lm=block(pred_layer=block(proj=lm_head(s, "transformer.embeddings.weight", bias=True))),
        sequence_classification=block(sequence_summary=summed),
        multiple_choice=block(sequence_summary=summed, logits_proj=Linear(s.labels, 1, True, "other")),
        token_classification=block(classifier=classifier(s)),
        question_answering=block(qa_outputs=classifier(s)),
        answer_spans=block(qa_outputs=Block(squad_head(d))),
    )
