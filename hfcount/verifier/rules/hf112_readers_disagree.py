"""HF112: readers disagree."""

from collections.abc import Mapping
from typing import Any

from hfcount.mapper.loader_differences import NEWER, OLDER
from hfcount.verifier.finding import Statement


class ReadersDisagree(Statement):
    """Versions of transformers, or vLLM, read a key of config.json differently and build different models.

    Args:
        writes: the keys by which all of these take the same, with their values.
    """

    code = "HF112"
    name = "readers-disagree"
    level = "note"
    why = f"The key is written at one level of the config, and {NEWER} and {OLDER} look for it at different ones."
    remedy = "Write the key so that all of them read the same: hfcount fix --only HF112."
    divides = True

    writes: Mapping[str, Any]
