"""Weight files of a repo of the Hub, of which headers and pieces are read by ranged requests."""

from collections.abc import Callable, Collection, Mapping

from hfcount.errors import FetchError
from hfcount.fetcher.client import Client, Denied
from hfcount.fetcher.interface import INDEX, Progress, top_level
from hfcount.fetcher.ranges import Headers, likely_length, read_pieces
from hfcount.fetcher.weights import set_apart
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Piece, Samples


class HubShards:
    """Files of a repo at one commit, read by ranges.

    Args:
        url: where a file is, by its name.
        refused: the error for an answer without the file; its second argument is what was asked for.
        sizes: bytes of all files of the repo by their names; None where they could not be listed.
    """

    local, whole = False, True

    def __init__(
        self,
        client: Client,
        url: Callable[[str], str],
        refused: Callable[[Denied, str], FetchError],
        sizes: Mapping[str, int | None] | None,
    ) -> None:
        self._client, self._url, self._refused = client, url, refused
        named = None if sizes is None else top_level(sizes)
        self.names: Collection[str] | None = (
            None if named is None else [name for name in named if name.endswith(".safetensors")]
        )
        self._sizes = sizes
        self._begun: Headers | None = None

    def begin(self) -> None:
        """Begins to read the headers of all files that may be of the model, before anyone knows which are."""
        names = [name for name in self.names or () if set_apart(name) is None]
        if names and self._begun is None:
            self._begun = self._headers(names)

    def _headers(self, names: Collection[str]) -> Headers:
        likely = likely_length((self._sizes or {}).get(INDEX), len(names))
        return Headers(self._client, {name: self._url(name) for name in names}, self._refused, likely)

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
        begun, self._begun = self._begun or self._headers(there), None
        return begun.collect({name: self._url(name) for name in there}, done)

    def sample(self, wanted: Collection[Piece]) -> Samples:
        """The digests of pieces of the files; raises as `read` does."""
        return read_pieces(self._client, {piece: self._url(piece.file) for piece in wanted}, self._refused)
