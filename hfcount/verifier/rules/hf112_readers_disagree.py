"""HF112: readers disagree."""

from collections.abc import Mapping
from typing import Any

from hfcount.verifier.finding import Statement


class ReadersDisagree(Statement):
    """Versions of transformers, or vLLM, take a key of config.json differently, and build another model.

    Args:
        writes: the keys that make all readers take the same, with their values.
    """

    code = "HF112"
    name = "readers-disagree"
    level = "note"
    why = "Tools and hands write a key at one level, and transformers 5 looks for some at another."
    remedy = "Write it so that all of them take the same: hfcount fix --only HF112."
    divides = True

    writes: Mapping[str, Any]
