"""Finds adapter tensors that are all zeros although they were not initialised so.

LoRA multiplies two matrices, of which one begins with zeros: with two of zeros neither ever moves. Source: peft 0.21,
tuners/lora/layer.py (`reset_lora_parameters`) and tuners/lora/dora.py, where the magnitude is the norm of a weight.
"""

import re
from collections.abc import Sequence

from hfcount.checkpoints.data.initial_values import zero
from hfcount.checkpoints.data.subjects import Subject, Subjects

_FIRST = re.compile(r"(?<=\blora_)(embedding_)?[Aa](?=\.|$)")
_OF_TUNERS = re.compile(r"\b(lora|vera|randlora|hada|lokr|oft|boft|hra|prompt|adaption|vblora)_|prompt|mapping")
_PREFIX = "base_model.model."


def zeros(subjects: Subjects, loaded: Sequence[Subject]) -> list[Subject]:
    """The zero tensors: pairs of matrices, first matrices unless all are zero, magnitudes, and fully saved modules.

    Args:
        loaded: the tensors of `subjects` that a loader reads.
    """
    firsts = [tensor for tensor in loaded if tensor.tally.count and _FIRST.search(tensor.name)]
    some_are = any(zero(tensor) for tensor in firsts) and not all(zero(tensor) for tensor in firsts)
    unchanged = []
    for tensor in firsts:
        second = subjects.by_name.get(_FIRST.sub(_other, tensor.name))
        if zero(tensor) and second is not None and zero(second):
            unchanged += [tensor, second]
        elif zero(tensor) and some_are and "lora_embedding" not in tensor.name:
            unchanged.append(tensor)
    return unchanged + [tensor for tensor in loaded if zero(tensor) and (_magnitude(tensor) or _whole(tensor))]


def _other(first: re.Match[str]) -> str:
    return first[0][:-1] + {"A": "B", "a": "b"}[first[0][-1]]


def _magnitude(tensor: Subject) -> bool:
    return tensor.name.endswith(("lora_magnitude_vector", "lora_magnitude_vector.weight"))


def _whole(tensor: Subject) -> bool:
    """Whether it is the matrix of a module that is saved in full (PEFT's modules_to_save)."""
    matrix = tensor.name.endswith(".weight") and sum(size > 1 for size in tensor.shape) > 1
    return matrix and tensor.name.startswith(_PREFIX) and not _OF_TUNERS.search(tensor.name)
