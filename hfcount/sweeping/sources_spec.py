"""What a sweep can be asked of the Hub: a listing, a collection."""

from dataclasses import dataclass
from urllib.parse import urlencode

EXPAND = ("sha", "lastModified", "siblings", "config", "gated", "safetensors", "tags")
PAGE = 1_000
"""Repos of a page, the most that the Hub lists at once."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Repos that the Hub lists.

    Args:
        author: a user or an organisation.
        library, task: such as `transformers` and `text-generation`.
        sort: such as `downloads`: from the largest; by the time of creation if None, the latest first.
        limit: how many.
    """

    author: str | None = None
    library: str | None = None
    task: str | None = None
    sort: str | None = None
    limit: int | None = None

    @property
    def whole(self) -> bool:
        """Whether it is all there is, of which a later sweep can ask for what has changed."""
        return self.sort is None and self.limit is None

    def query(self, sort: str) -> str:
        """What is asked of /api/models."""
        asked = {
            "author": self.author,
            "filter": self.library,
            "pipeline_tag": self.task,
            "sort": sort,
            "limit": min(PAGE, self.limit or PAGE),
        }
        given = [(name, value) for name, value in asked.items() if value is not None]
        return urlencode([*given, *(("expand", field) for field in EXPAND)])


@dataclass(frozen=True, slots=True)
class Collection:
    """The models of a collection.

    Args:
        slug: as its address ends, such as `Qwen/qwen3-67dd247413f0e2e4f653967f`.
    """

    slug: str
