"""Weight files of a repo of the Hub, whose headers and pieces are read by ranged requests."""

from collections.abc import Callable, Collection, Mapping

from hfcount.errors import FetchError
from hfcount.fetcher.client import Client, Denied
from hfcount.fetcher.interface import Early, Pickles, Progress, top_level
from hfcount.fetcher.layout import layout_of
from hfcount.fetcher.ranges import Headers, likely_length, read_pieces
from hfcount.fetcher.weights import set_apart
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Piece, Samples

_AHEAD = 32_000_000  # bytes at most that wait until somebody reads them


def begun(
    client: Client,
    url: Callable[[str], str],
    refused: Callable[[Denied, str], FetchError],
    sizes: Mapping[str, int | None] | None,
    asked: Early | None,
) -> Headers | None:
    """Headers that are asked for before anyone has seen the index; arguments as of `HubShards`.

    Args:
        asked: which of them will be read in any case.
    """
    layout = layout_of(sizes or ())
    if sizes is None or asked is None or (asked == "unindexed" and layout.listing in sizes):
        return None
    likely, names = _likely(sizes), [name for name in _of_the_model(sizes) if asked == "all" or name == layout.single]
    urls = {name: url(name) for name in names[: _AHEAD // likely]}
    return Headers(client, urls, refused, likely) if urls else None


def _likely(sizes: Mapping[str, int | None] | None) -> int:
    """Bytes to ask of each file at first."""
    return likely_length((sizes or {}).get(layout_of(sizes or ()).listing), len(_of_the_model(sizes or ())))


def _of_the_model(names: Collection[str]) -> list[str]:
    """The weight files that a run at depth headers looks into."""
    layout = layout_of(names)
    return sorted(
        name for name in top_level(names) if name.endswith(".safetensors") and set_apart(name, layout) is None
    )


class HubShards:
    """Files of a repo at one commit, read by ranges.

    Args:
        url: where a file is, by its name.
        refused: the error for an answer without the file; its second argument is what was asked for.
        sizes: bytes of all files of the repo by their names; None where they could not be listed.
        begun: headers that are being read already.
    """

    local, whole = False, True
    kept: Collection[str] = ()

    def __init__(
        self,
        client: Client,
        url: Callable[[str], str],
        refused: Callable[[Denied, str], FetchError],
        sizes: Mapping[str, int | None] | None,
        begun: Headers | None = None,
    ) -> None:
        self._client, self._url, self._refused, self._begun = client, url, refused, begun
        named = None if sizes is None else top_level(sizes)
        self.names: Collection[str] | None = (
            None if named is None else [name for name in named if name.endswith(".safetensors")]
        )
        self._sizes = sizes

    def sizes(self, wanted: Collection[str]) -> Mapping[str, int | None] | None:
        """Bytes of those of the files that are listed; None where nothing is."""
        return None if self._sizes is None else {name: self._sizes[name] for name in wanted if name in self._sizes}

    def close(self) -> None:
        """Ends all connections."""
        self._client.close()
        if self._begun:
            self._begun.end()

    def read(self, wanted: Collection[str], done: Progress) -> Mapping[str, Shard]:
        """The shards of those names; one that is not there is left out.

        Raises:
            FetchError: a server could not be reached, refused, or does not serve ranges.
        """
        there = [name for name in wanted if self._sizes is None or name in self._sizes]
        for _ in range(len(wanted) - len(there)):
            done()
        urls = {name: self._url(name) for name in there}
        headers = self._begun or Headers(self._client, urls, self._refused, _likely(self._sizes))
        self._begun = None
        return headers.collect(urls, done)

    def pickles(self, wanted: Collection[str], done: Progress) -> Pickles:
        """What pickled files of those names hold; raises as `read` does."""
        from hfcount.fetcher.hub.pickles import read_pickles  # most checkpoints have none

        urls = {name: self._url(name) for name in wanted if self._sizes is None or name in self._sizes}
        for _ in range(len(wanted) - len(urls)):
            done()
        return read_pickles(self._client, urls, self._sizes or {}, self._refused, done)

    def sample(self, wanted: Collection[Piece]) -> Samples:
        """The digests of pieces of the files; raises as `read` does."""
        return read_pieces(self._client, {piece: self._url(piece.file) for piece in wanted}, self._refused)
