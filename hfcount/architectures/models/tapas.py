"""TAPAS: BERT that reads tables, with embeddings of rows, columns and ranks (arXiv:2004.02349)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding
from hfcount.architectures.layers.encoders import bert_base, bert_embeddings, bert_heads, pooler
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("tapas",)  # transformers 5.23: modeling_tapas.py
IGNORED = (
    *("max_num_rows", "max_num_columns", "select_one_column", "reset_position_index_per_cell"),
    *("use_answer_as_supervision", "use_normalized_answer_loss", "use_gumbel_for_cells", "use_gumbel_for_aggregation"),
    *("average_logits_per_cell", "allow_empty_column_selection", "init_cell_selection_weights_to_zero"),
    *("disable_per_token_loss", "aggregation_labels", "no_aggregation_label_index", "answer_loss_cutoff"),
    *("aggregation_loss_weight", "answer_loss_importance", "positive_label_weight", "huber_loss_delta"),
    *("aggregation_temperature", "cell_selection_preference", "type_vocab_size"),
)

_HEADS = ("ForQuestionAnswering", "Model", "ForMaskedLM", "ForSequenceClassification")


class Tapas(Sizes):
    """Sizes specific to TAPAS; `type_vocab_sizes` are the rows of its tables of token types."""

    type_vocab_sizes: tuple[int, ...]
    num_aggregation_labels: int = size("c_a", minimum=0)


def spec(c: Config) -> Spec[Tapas]:
    kinds = enumerate(c.ints("type_vocab_sizes"), 1)
    sizes = Tapas.read(c, type_vocab_sizes=tuple(keys.dim(f"t{number}", rows) for number, rows in kinds))
    return keys.encoder(c, heads=_HEADS, types=False).having(sizes)


def blueprint(s: Spec[Tapas]) -> Block:
    d, answers, kinds = s.hidden, s.own.num_aggregation_labels, enumerate(s.own.type_vocab_sizes)
    tables = Block({f"token_type_embeddings_{number}": embedding(rows, d) for number, rows in kinds})
    embeddings = bert_embeddings(s, more=tables)
    pooled = pooler(s, heads=("base", "question_answering", "sequence_classification"))
    weights, bias = Tensor((d,), component="other"), Tensor((), component="other")
    cells = block(
        output_weights=weights,
        column_output_weights=weights,
        output_bias=bias,
        column_output_bias=bias,
        aggregation_classifier=Linear(d, answers, True, "other") if answers else None,
    )
    return bert_heads(s, "tapas", bert_base(s, embeddings=embeddings, pooler=pooled), question_answering=cells)
