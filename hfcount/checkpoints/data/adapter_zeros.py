"""Tensors of adapters that are all zeros, and were not when they were made.

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
    """Pairs of matrices that are zeros, first ones where others are not, magnitudes, and modules saved as a whole.

    Args:
        loaded: those of `subjects` that a loader takes.
    """
    firsts = [one for one in loaded if one.tally.count and _FIRST.search(one.name)]
    some_are = any(zero(one) for one in firsts) and not all(zero(one) for one in firsts)
    found = []
    for one in firsts:
        second = subjects.by_name.get(_FIRST.sub(_other, one.name))
        if zero(one) and second is not None and zero(second):
            found += [one, second]
        elif zero(one) and some_are and "lora_embedding" not in one.name:
            found.append(one)
    return found + [one for one in loaded if zero(one) and (_magnitude(one) or _whole(one))]


def _other(first: re.Match[str]) -> str:
    return first[0][:-1] + {"A": "B", "a": "b"}[first[0][-1]]


def _magnitude(one: Subject) -> bool:
    return one.name.endswith(("lora_magnitude_vector", "lora_magnitude_vector.weight"))


def _whole(one: Subject) -> bool:
    """Whether it is a matrix of a module that is saved as a whole, beside the others."""
    matrix = one.name.endswith(".weight") and sum(size > 1 for size in one.shape) > 1
    return matrix and one.name.startswith(_PREFIX) and not _OF_TUNERS.search(one.name)
