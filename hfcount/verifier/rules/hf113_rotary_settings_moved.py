"""HF113: rotary settings moved."""

from collections.abc import Mapping
from typing import Any

from hfcount.verifier.finding import Statement


class RotarySettingsMoved(Statement):
    """transformers before 5 does not find the rotary settings where config.json has them.

    Args:
        writes: the keys that make all readers take the same, with their values.
    """

    code = "HF113"
    name = "rotary-settings-moved"
    level = "note"
    why = (
        "transformers 5 writes rope_parameters; version 4 looks for rope_theta and rope_scaling, or has another"
        " default if all are absent."
    )
    remedy = "Write both spellings: hfcount fix --only HF113."
    informational = True
    divides = True

    writes: Mapping[str, Any]
