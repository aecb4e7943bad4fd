"""What llama.cpp's converter makes of BERT and its relatives, whose names depend on the class and not on the type.

Source: llama-cpp-python 0.3.36, vendor/llama.cpp/conversion/bert.py (BertModel, RobertaModel, XLMRobertaModel) and
gguf-py/gguf/tensor_mapping.py.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from hfcount.checkpoints.gguf.table import Conversions, Shape
from hfcount.spec.tree.leaves import Leaf

ARCHITECTURE = "bert"
_PREFIXES = ("bert", "roberta", "distilbert")
_DROPPED = ("pooler.dense.", "cls.predictions.", "cls.seq_relationship.", "vocab_", "embeddings.position_ids")
_CUT = ("roberta", "xlm-roberta")
_POSITIONS = "position_embd.weight"
_LAYER, _BLOCK = "encoder.layer.#.", "blk.{0}."
_ENDS = ("weight", "bias")
_OF_LAYER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
_OTHERS = {
    "embeddings.word_embeddings": ("token_embd",),
    "embeddings.position_embeddings": ("position_embd",),
    "embeddings.token_type_embeddings": ("token_types",),
    "embeddings.LayerNorm": ("token_embd_norm",),
    "pre_classifier": ("cls",),
    "classifier.dense": ("cls",),
    "classifier.out_proj": ("cls.output",),
    "classifier": ("cls", "cls.output"),  # by whether the labels have names
}


def without_prefix(leaf: Leaf) -> Leaf:
    """A leaf without the name of the base model in a class with a head."""
    return leaf.replace(segments=leaf.segments[1:]) if leaf.segments[0] in _PREFIXES else leaf


def is_dropped(leaf: Leaf) -> bool:
    """Whether the converter leaves a leaf out: pooling, and heads that guess words."""
    return leaf.first.startswith(_DROPPED)


@cache
def rows_of_bert() -> Mapping[str, Conversions]:
    """The names of the converter, by those of the checkpoint as the table has them."""
    rows: dict[str, Conversions] = {}
    for end in _ENDS:
        for name, result in _OF_LAYER.items():
            rows[f"{_LAYER}{name}.{end}"] = (((f"{_BLOCK}{result}.{end}", "same"),),)
        for name, results in _OTHERS.items():
            rows[f"{name}.{end}"] = tuple(((f"{result}.{end}", "same"),) for result in results)
    return rows


def cut_positions(shapes: dict[str, Shape | None], offset: int | None) -> None:
    """Takes the rows of positions away that are before the first of a text, where the converter does."""
    shape = shapes.get(_POSITIONS)
    if shape and offset:
        shapes[_POSITIONS] = (shape[0] - offset, *shape[1:])


def positions_cut(values: Mapping[str, Any]) -> int | None:
    """How many rows of positions the converter drops by a config; None for a type of which it drops none."""
    if values.get("model_type") not in _CUT:
        return None
    padding = values.get("pad_token_id", 1)  # as RobertaConfig of transformers has it
    return padding + 1 if type(padding) is int else None
