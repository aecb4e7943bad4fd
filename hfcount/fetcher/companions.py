"""Chooses the documents to read besides config.json, by the files of the checkpoint."""

import re
from collections.abc import Mapping

from hfcount.fetcher.interface import CHAT, COMPANIONS, SHORT, TOKENIZER, TOKENS, top_level
from hfcount.fetcher.layout import BIN_INDEX, MODEL_INDEX


def _tokens(sizes: Mapping[str, int | None]) -> str | None:
    """The file that says most of added tokens for its size; of TOKENIZER the beginning alone is read."""
    short = [name for name, size in sizes.items() if size is not None and size <= SHORT]
    wanted = (name for name in (TOKENS[0], TOKENIZER, TOKENS[1]) if name in (sizes if name == TOKENIZER else short))
    return next(wanted, None)


_ADAPTER = re.compile(r"adapter_|pytorch_lora_weights|ip-adapter")
"""What the names of safetensors files begin with that are no model, so that the model may be pickled."""


def companions(sizes: Mapping[str, int | None]) -> list[str]:
    """The further documents to read of a checkpoint with these files; one at most is of a tokenizer."""
    if MODEL_INDEX in sizes:
        return []  # each part has its own
    pickled = not any(name.endswith(".safetensors") for name in top_level(sizes) if not _ADAPTER.match(name))
    left = {*TOKENS, *CHAT} - {_tokens(sizes)} | (set() if pickled else {BIN_INDEX})
    return [name for name in COMPANIONS if name in sizes and name not in left]
