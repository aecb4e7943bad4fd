"""The config of the sentence-transformers module that runs a transformers model.

Source: sentence-transformers 6.2, base/modules/transformer.py.
"""

from collections.abc import Mapping
from typing import NamedTuple

from hfcount.text import shown
from hfcount.verifier.sentence_transformers.classes import SENTENCE, TOKENS
from hfcount.verifier.sentence_transformers.settings import Settings

_FEATURES = {
    "feature-extraction": TOKENS,
    "fill-mask": TOKENS,
    "retrieval": TOKENS,
    "sequence-classification": "scores",
    "text-generation": "causal_logits",
    "any-to-any": "causal_logits",
}
"""The feature that each task writes, by default."""

_KEYS = (
    "backend",
    "cache_dir",
    "config_args",
    "config_kwargs",
    "do_lower_case",
    "document_length",
    "max_seq_length",
    "modality_config",
    "model_args",
    "model_kwargs",
    "module_output_name",
    "processing_kwargs",
    "processor_kwargs",
    "query_expansion",
    "query_length",
    "tokenizer_args",
    "tokenizer_name_or_path",
    "transformer_task",
    "unpad_inputs",
)
_TASKS = {"MLMTransformer": "fill-mask"}
_OLD = {"processor_name": "tokenizer_name_or_path"}  # of CLIPModel


class Running(NamedTuple):
    """How a model of transformers is run.

    Args:
        feature: what it writes; plain: whether that is what the model's last layer gives.
    """

    feature: str
    plain: bool


def running(kind: str, file: str, values: Mapping[str, object]) -> Running:
    """How a module runs its model.

    Args:
        kind: its class; file: where its config is; values: the config, which may be empty.

    Raises:
        DocumentError: HF801, the class refuses the config.
    """
    s = Settings(kind, file, values, _OLD if kind == "CLIPModel" else None)
    s.check_known(_KEYS)
    task = s.text("transformer_task", _TASKS.get(kind, "feature-extraction"))
    if task not in _FEATURES:
        text = f"has {shown(task)} for transformer_task, but must give one of {', '.join(_FEATURES)}"
        raise s.refused(text, "transformer_task")
    ways, feature = s.get("modality_config"), s.get("module_output_name")
    if ways is not None and feature is None:
        text = "has a modality_config and no module_output_name, which it needs besides"
        raise s.refused(text, "module_output_name", "Add it.")
    if ways is not None and not (isinstance(ways, dict) and ways):
        raise s.refused(f"has {shown(ways)} for modality_config, so that it takes no text", "modality_config")
    usual = SENTENCE if kind == "CLIPModel" else _FEATURES[task]
    return Running(s.text("module_output_name", usual) if feature is not None else usual, task == "feature-extraction")
