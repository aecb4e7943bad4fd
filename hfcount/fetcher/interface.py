"""Documents: what was read of one checkpoint, and where it is from."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from hfcount.fetcher.shards import Shards
from hfcount.formats.json import Document
from hfcount.text import printable

Source = Literal["hub", "cache", "folder", "fixtures"]

CONFIG = "config.json"
INDEX = "model.safetensors.index.json"
HEADERS = "headers.json"

CAPS = {CONFIG: 10_000_000, INDEX: 256_000_000, HEADERS: 1_000_000_000}
"""Bytes: a longer document is not read. The largest real index known is 60 MB."""


@dataclass(frozen=True, slots=True)
class Documents:
    """All that was read of one checkpoint, at one commit.

    Args:
        shards: reads the headers of the weight files.
        files: names of all files beside the documents, where they were listed.
        alone: whether MODEL is the config's own file, so that nothing else was looked for.
    """

    model: str
    source: Source
    revision: str | None
    config: Document
    index: Document | None
    shards: Shards
    files: Collection[str] = ()
    alone: bool = False


def label(model: str, revision: str | None) -> str:
    """A model with its commit, as messages call it."""
    return printable(f"{model}@{revision[:7]}" if revision else model)
