"""HF103: inconsistent config."""

from collections.abc import Mapping
from typing import ClassVar

from hfcount.errors import Variant
from hfcount.verifier.finding import Statement


class InconsistentConfig(Statement):
    """Values of config.json contradict each other or are out of range; a note where a model may load anyway."""

    code = "HF103"
    name = "inconsistent-config"
    level = "error"
    why = "A config edited by hand or taken from another model."
    remedy = "Correct the value that is wrong."
    proof = "doubted"

    variants: ClassVar[Mapping[Variant, str]] = {
        "contradiction": "Two values, or a value and a part of the model, do not agree.",
        "list-length": "A list has more or fewer entries than there are layers, stages or sides.",
        "not-described": "A value asks for something that transformers does not have or hfcount does not describe.",
        "not-divisible": "A size is not a multiple of the number that it is divided by.",
        "out-of-range": "A number is too small, too large, or not among the allowed ones.",
        "unknown-kind": "The architecture does not know this name.",
    }
