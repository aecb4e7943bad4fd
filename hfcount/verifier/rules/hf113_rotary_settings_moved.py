"""HF113: rotary settings moved."""

from collections.abc import Mapping
from typing import Any

from hfcount.mapper.loader_differences import OLDER
from hfcount.verifier.finding import Statement
from hfcount.verifier.loaders.labels import NEWEST


class RotarySettingsMoved(Statement):
    """transformers 4.57 does not find the rotary settings where config.json has them.

    Args:
        writes: the keys by which all versions take the same, with their values.
    """

    code = "HF113"
    name = "rotary-settings-moved"
    level = "note"
    why = (
        f"{NEWEST} writes rope_parameters; {OLDER} reads rope_theta and rope_scaling. If all are absent, it has another"
        " default."
    )
    remedy = "Write both spellings: hfcount fix --only HF113."
    informational = True
    divides = True

    writes: Mapping[str, Any]
