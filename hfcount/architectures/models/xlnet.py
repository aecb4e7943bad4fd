"""XLNet: attention to relative positions, in tensors of three dimensions (arXiv:1906.08237)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.classic import classifier, headed, squad_head, summary
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("xlnet",)  # transformers 5.23: modeling_xlnet.py
IGNORED = ("use_mems_eval", "clamp_len", "start_n_top", "end_n_top")

_HEADS = keys.named(
    ("LMHeadModel", "Model", "ForSequenceClassification", "ForTokenClassification", "ForMultipleChoice"),
    ForQuestionAnsweringSimple="question_answering",
    ForQuestionAnswering="answer_spans",
)


class Xlnet(Sizes):
    summary_use_proj: bool = flag(absent=True)


def spec(c: Config) -> Spec[Xlnet]:
    d = c.int("d_model", "hidden_size")
    mixer = keys.multi_head(c, d, c.int("n_head", "num_attention_heads"), bias=False)
    if c.int("d_head", default=mixer.head_dim) != mixer.head_dim:
        raise c.error(
            "contradiction",
            f"d_head must be d_model / n_head, {mixer.head_dim:,} here.",
            "d_head",
            "Correct one of them.",
        )
    layer = Layer(mixer=mixer.replace(products_per_score=2), ffn=Dense(width=c.int("d_inner"), bias=True))
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers"))
    sizes = Xlnet.read(c)
    words, kept = c.int("vocab_size", "n_token"), c.int("mem_len", default=0, minimum=0)
    model = keys.decoder_spec(c, layers, hidden=d, vocab=words, tied=True, heads=_HEADS)
    # Tokens see those behind them too, and what is kept of earlier segments are not keys and values.
    why = "it keeps outputs of its layers for earlier segments, which are not described" if kept else ""
    return model.replace(causal=False, uncounted=why).having(sizes)


def blueprint(s: Spec[Xlnet]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        heads, width, inner = layer.attention.heads, layer.attention.head_dim, layer.dense.width
        projections = {name: Tensor((d, heads, width)) for name in "qkvor"}
        biases = {name: Tensor((heads, width)) for name in ("r_r_bias", "r_s_bias", "r_w_bias")}
        segments = block(seg_embed=Tensor((2, heads, width)), layer_norm=layer_norm(d)).children
        return block(
            rel_attn=Block({**projections, **biases, **segments}, "attention"),
            ff=block("mlp", layer_norm=layer_norm(d), layer_1=Linear(d, inner, True), layer_2=Linear(inner, d, True)),
        )

    mask = Tensor((1, 1, d), component="embedding")
    body = block(mask_emb=mask, word_embedding=embedding(s.vocab, d), layer=stack(s.layers, layer_block))
    summed = summary(d, d if s.own.summary_use_proj else 0)
    return headed(
        s,
        "transformer",
        body,
        causal_lm=block(lm_loss=lm_head(s, "transformer.word_embedding.weight", bias=True)),
        sequence_classification=block(sequence_summary=summed, logits_proj=classifier(s)),
        multiple_choice=block(sequence_summary=summed, logits_proj=Linear(d, 1, True, "other")),
        token_classification=block(classifier=classifier(s)),
        question_answering=block(qa_outputs=classifier(s)),
        answer_spans=Block(squad_head(d)),
    )
