"""HF113: rotary settings moved."""

from collections.abc import Mapping
from typing import Any

from hfcount.verifier.finding import Statement


class RotarySettingsMoved(Statement):
    """transformers before 5 does not find settings of rotary positions where config.json has them.

    Args:
        writes: the keys that make all readers take the same, with their values.
    """

    code = "HF113"
    name = "rotary-settings-moved"
    level = "note"
    why = (
        "transformers 5 writes rope_parameters, where version 4 looks for rope_theta and rope_scaling, or has"
        " another default where all are absent."
    )
    remedy = "Write them in both spellings: hfcount fix --only HF113."
    informational = True
    divides = True

    writes: Mapping[str, Any]
