"""YOSO, MRA and Nyströmformer: BERT without a pooler, attention approximated (arXiv:2111.09714, arXiv:2102.03902)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered
from hfcount.architectures.layers.encoders import bert_base, bert_embeddings, bert_heads, bert_layer, dense_classifier
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, buffer

# transformers 5.23: modeling_yoso.py, modeling_mra.py, modeling_nystromformer.py
MODEL_TYPES = ("yoso", "mra", "nystromformer")
IGNORED = tuple(
    "approx_mode block_per_row conv_window expand hash_code_len initial_prior_diagonal_n_blocks inv_coeff_init_option"
    " initial_prior_first_n_blocks lsh_backward num_hash num_landmarks segment_means_seq_len use_expectation"
    " use_fast_hash use_grad_checkpoint".split()
)

_HEADS = [ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"]


class Yoso(Sizes):
    conv_kernel_size: int
    rows: int


def spec(c: Config) -> Spec[Yoso]:
    rows = c.int("max_position_embeddings")
    kernel = c.int("conv_kernel_size", default=None) if c.family == "nystromformer" else None
    sizes = Yoso.read(c, conv_kernel_size=keys.dim("w", kernel or 0), rows=rows)
    return keys.encoder(c, decoding=False, heads=_HEADS).replace(positions=rows + 2).having(sizes)


def blueprint(s: Spec[Yoso]) -> Block:
    d, kernel, rows = s.hidden, s.own.conv_kernel_size, s.own.rows

    def layer_block(layer: Layer) -> Block:
        usual = bert_layer(d, layer)
        convolution = block("attention", weight=Tensor((layer.attention.heads, 1, kernel, 1)))
        query = Linear(d, d, layer.attention.qkv_bias)
        projections = block("attention", query=query, key=query, value=query, conv=convolution if kernel else None)
        attention = usual.children["attention"]
        inner = altered(attention, self=projections) if isinstance(attention, Block) else None
        return altered(usual, attention=inner)

    tables = bert_embeddings(s)
    if s.family == "mra":
        tables = altered(tables, position_ids=buffer(1, rows, whole=True))
    choice = block(pre_classifier=Linear(d, d, True, "other"), classifier=Linear(d, 1, True, "other"))
    labels = block(classifier=dense_classifier(s))
    body = bert_base(s, layer_block, tables)
    ends = block(qa_outputs=Linear(d, 2, True, "other"))  # an answer's first and last token, whatever the labels
    heads = {"multiple_choice": choice, "sequence_classification": labels, "question_answering": ends}
    return bert_heads(s, s.family, body, **heads)
