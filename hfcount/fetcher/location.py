"""Place: a folder or a repo at one commit, with the list of its files and a reader of them."""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, Protocol

from hfcount.errors import FetchError
from hfcount.formats.json import Document
from hfcount.text import printable

SourceName = Literal["hub", "cache", "folder", "fixtures", "memory"]


class FileReader(Protocol):
    """Reads files of one place."""

    def document(self, name: str) -> Document | None:
        """A short document; None where there is none.

        Raises:
            FetchError: it could not be read.
        """

    def range(self, name: str, start: int, stop: int) -> bytes:
        """The bytes of a file from `start` up to `stop`, fewer where it ends.

        Raises:
            FetchError: they could not be read.
        """

    def close(self) -> None:
        """Ends whatever is open."""


class Place(NamedTuple):
    """The folder or repo that MODEL names.

    Args:
        sizes: bytes of all files by their paths, None for an unknown size.
        reader: reads any of them.
        refuse: makes the error to raise if this is not a checkpoint of a known kind.
        file: the weight file that was named, or the end of its name, such as `Q4_K_M`.
        local: whether reading sends no request.
    """

    model: str
    source: SourceName
    revision: str | None
    sizes: Mapping[str, int | None]
    reader: FileReader
    refuse: Callable[[], FetchError]
    file: str | None = None
    local: bool = True

    @property
    def label(self) -> str:
        """What reports call it: MODEL, with the file where one was named."""
        return f"{self.model}/{self.file}" if self.file else self.model

    def refusal(self) -> FetchError:
        """The error for a place without its own config."""
        if self.file is None:
            return self.refuse()
        text = (
            f"{printable(self.label)} has no config.json, which --set and --quantize need. Name a model that has one."
        )
        return FetchError("NoConfig", text)
