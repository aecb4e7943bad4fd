"""GTE as it was released: a multilingual encoder with rotary positions and gated networks (arXiv:2407.19669)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, lm_head, rms_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.encoders import bert_embeddings, pooler
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("new",)  # modeling.py of Alibaba-NLP/new-impl
CLASSES = (
    "GteNewModel",
    "GteNewForSequenceClassification",
)
IGNORED = ("logn_attention_clip1", "logn_attention_scale", "unpad_inputs", "use_memory_efficient_attention")

_POOLED = ("sequence_classification", "multiple_choice")
_HEADS = (
    "Model",
    "ForMaskedLM",
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForQuestionAnswering",
    "ForMultipleChoice",
)


class New(Sizes):
    """Sizes specific to GTE as it was released; `rms` is whether its norms are RMS norms."""

    pack_qkv: bool = flag(absent=True)
    rms: bool


def spec(c: Config) -> Spec[New]:
    d, kind = c.int("hidden_size"), c.str("position_embedding_type", default="rope")
    norm = c.str("layer_norm_type", default="layer_norm")
    for key, value, known in (
        ("position_embedding_type", kind, ("rope", "absolute")),
        ("layer_norm_type", norm, ("layer_norm", "rms_norm")),
    ):
        if value not in known:
            raise c.error("unknown-kind", f"{key} must be one of {', '.join(known)}.", key, observed=value)
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=keys.dense(c))
    types = c.int("type_vocab_size", default=1, minimum=0) or None
    sizes = New.read(c, rms=norm == "rms_norm")
    rows = c.int("max_position_embeddings") if kind == "absolute" else None
    model = keys.decoder_spec(c, layer, heads=_HEADS, tied=True, hidden=d, positions=rows, token_types=types)
    return model.replace(causal=False).having(sizes)


def blueprint(s: Spec[New]) -> Block:
    d, of = s.hidden, s.own
    square, norm = Linear(d, d, True), rms_norm(d) if of.rms else layer_norm(d)
    apart = block("attention", q_proj=square, k_proj=square, v_proj=square, o_proj=square)
    packed = block("attention", qkv_proj=Linear(d, 3 * d, True), o_proj=square)

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        return block(
            attention=packed if of.pack_qkv else apart,
            mlp=block("mlp", up_gate_proj=Linear(d, 2 * width), down_proj=Linear(width, d, True)),
            attn_ln=norm,
            mlp_ln=norm,
        )

    tables = bert_embeddings(s, norm=False)
    first = Block({**tables.children, "LayerNorm": norm})
    body = block(embeddings=first, encoder=block(layer=stack(s.layers, layer_block)), pooler=pooler(s, _POOLED))
    decoder = lm_head(s, "new.embeddings.word_embeddings.weight", True)
    words = block(lm_head=block("lm_head", dense=square, norm=layer_norm(d), decoder=decoder))
    labels, choice = block(classifier=classifier(s)), block(classifier=Linear(d, 1, True, component="other"))
    return headed(
        s,
        "new",
        body,
        masked_lm=words,
        sequence_classification=labels,
        token_classification=labels,
        question_answering=block(qa_outputs=classifier(s)),
        multiple_choice=choice,
    )
