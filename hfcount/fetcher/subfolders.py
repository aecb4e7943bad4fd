"""Presents a subfolder of a checkpoint as a checkpoint, with names relative to it."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from hfcount.fetcher.interface import Documents, Pickles, Progress, Shards, top_level
from hfcount.fetcher.layout import BIN_INDEX, CONFIG, INDEX
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Piece, Samples


def below(documents: Documents, folder: str) -> Documents | None:
    """The documents of a folder, of those that were read; None if its config was not."""
    read, start = documents.companions, f"{folder}/"
    if (config := read.get(start + CONFIG)) is None:
        return None
    listed = documents.sizes if documents.sizes is not None else dict.fromkeys(documents.files)
    sizes = {name.removeprefix(start): size for name, size in listed.items() if name.startswith(start)}
    names = [name for name in top_level(sizes) if name.endswith(".safetensors")]
    return Documents(
        f"{documents.model}/{folder}",
        documents.source,
        documents.revision,
        config,
        read.get(start + INDEX),
        _Below(documents.shards, start, names),
        top_level(sizes),
        sizes=None if documents.sizes is None else sizes,
        companions={BIN_INDEX: read[start + BIN_INDEX]} if start + BIN_INDEX in read else {},
    )


class _Below(Shards):
    """The weight files of a folder, read by those of the checkpoint that it is in."""

    def __init__(self, shards: Shards, start: str, names: Collection[str]) -> None:
        self._shards, self._start = shards, start
        self.local, self.whole, self.names = shards.local, shards.whole, names
        self.kept = [name.removeprefix(start) for name in shards.kept if name.startswith(start)]

    def sizes(self, wanted: Collection[str]) -> Mapping[str, int | None] | None:
        """See Shards."""
        sizes = self._shards.sizes(self._paths(wanted))
        return None if sizes is None else {name.removeprefix(self._start): size for name, size in sizes.items()}

    def read(self, wanted: Collection[str], done: Progress) -> Mapping[str, Shard]:
        """See Shards."""
        read = self._shards.read(self._paths(wanted), done).values()
        shards = (shard._replace(name=shard.name.removeprefix(self._start)) for shard in read)
        return {shard.name: shard for shard in shards}

    def pickles(self, wanted: Collection[str], done: Progress) -> Pickles:
        """See Shards."""
        read = self._shards.pickles(self._paths(wanted), done).values()
        pickles = (replace(pickle, name=pickle.name.removeprefix(self._start)) for pickle in read)
        return {pickle.name: pickle for pickle in pickles}

    def sample(self, wanted: Collection[Piece]) -> Samples:
        """See Shards."""
        pieces = {piece._replace(file=self._start + piece.file): piece for piece in wanted}
        return {pieces[piece]: value for piece, value in self._shards.sample(pieces).items()}

    def close(self) -> None:
        """See Shards."""
        self._shards.close()

    def _paths(self, names: Collection[str]) -> list[str]:
        return [self._start + name for name in names]
