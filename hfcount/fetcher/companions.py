"""Chooses the documents to read besides config.json, by the files of the checkpoint."""

from collections.abc import Mapping

from hfcount.fetcher.interface import CHAT, COMPANIONS, SHORT, TOKENIZER, TOKENS, top_level
from hfcount.fetcher.layout import BIN_INDEX, CHAT_TEMPLATE, MODEL_INDEX
from hfcount.formats import vocabularies


def _tokens(sizes: Mapping[str, int | None]) -> str | None:
    """The file that says most of added tokens for its size; of TOKENIZER the beginning alone is read."""
    short = [name for name, size in sizes.items() if size is not None and size <= SHORT]
    wanted = (name for name in (TOKENS[0], TOKENIZER, TOKENS[1]) if name in (sizes if name == TOKENIZER else short))
    return next(wanted, None)


def _spoken(sizes: Mapping[str, int | None]) -> list[str]:
    """The short files of tokens, ends and the chat template; of words where there is no tokenizer.json."""
    vocabulary = None if TOKENIZER in sizes else vocabularies.file_of(sizes)
    names = (*TOKENS, CHAT_TEMPLATE, vocabulary)
    return [name for name in names if name is not None and 0 < (sizes.get(name) or 0) <= SHORT]


_ADAPTER = ("adapter_", "pytorch_lora_weights", "ip-adapter")
"""What the names of safetensors files begin with that are no model, so that the model may be pickled."""


def companions(sizes: Mapping[str, int | None], spoken: bool = False) -> list[str]:
    """The further documents to read of a checkpoint with these files; one at most is of a tokenizer.

    Args:
        spoken: whether the short ones of how it is spoken to are read, too: of tokens, ends and the chat template.
    """
    if MODEL_INDEX in sizes:
        return []  # each part has its own
    pickled = not any(name.endswith(".safetensors") for name in top_level(sizes) if not name.startswith(_ADAPTER))
    read = {_tokens(sizes), *(_spoken(sizes) if spoken else ())}
    left = {*TOKENS, *CHAT} - read | (set() if pickled else {BIN_INDEX})
    return [name for name in COMPANIONS if name in sizes and name not in left]
