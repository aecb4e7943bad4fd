"""Reads any file of a repo of the Hub, by ranges."""

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass

from hfcount.errors import FetchError
from hfcount.fetcher import tokens
from hfcount.fetcher.client import Client, Denied, Empty
from hfcount.fetcher.interface import SHORT, TOKENIZER
from hfcount.formats.json import Document


@dataclass(frozen=True, slots=True)
class HubFiles:
    """Files of a repo at one commit.

    Args:
        url: where a file is; named: what messages call it.
        refused: the error for an answer without the file; its second argument is what was asked for.
        document: reads a short document; None where there is none.
    """

    client: Client
    url: Callable[[str], str]
    named: Callable[[str], str]
    refused: Callable[[Denied, str], FetchError]
    document: Callable[[str], Document | None]

    def range(self, name: str, start: int, stop: int) -> bytes:
        """See FileReader."""
        try:
            return self.client.range(self.named(name), self.url(name), start, stop)[0]
        except Empty:
            return b""
        except Denied as denied:
            raise self.refused(denied, self.named(name)) from None

    def has(self, name: str) -> bool:
        """Whether there is such a file, listed or not."""
        try:
            self.client.range(self.named(name), self.url(name), 0, 1)
        except Denied as denied:
            return denied.status != 404
        except (Empty, FetchError):
            pass  # there is something, which cannot be read
        return True

    def of_tokenizer(self, name: str, label: str, names: Collection[str]) -> Document | None:
        """What is kept of the beginning of a file of tokens, if it can be read; `names` are all at the top."""
        with suppress(FetchError, Denied, Empty):
            end = tokens.BEGINNING if name == TOKENIZER else SHORT
            raw, size = self.client.range(self.named(name), self.url(name), 0, end)
            kept = tokens.marked(name, tokens.excerpt(name, raw, len(raw) < size), names)
            return Document(f"{label} {name}", kept or b"{}")
        return None

    def close(self) -> None:
        """Ends all connections."""
        self.client.close()
