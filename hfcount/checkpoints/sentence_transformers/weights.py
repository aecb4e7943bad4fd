"""Weight files of modules of sentence-transformers, pickled ones included."""

from collections.abc import Callable, Collection

from hfcount.checkpoints.pickle.check import refused, shard
from hfcount.fetcher.interface import Shards
from hfcount.formats.pickles import Broken, Pickle
from hfcount.formats.safetensors import Shard


def read_weights(
    shards: Shards, wanted: Collection[str], progress: Callable[[int], Callable[[], None]]
) -> dict[str, Shard]:
    """The files of those names; one that does not exist is left out.

    Args:
        progress: called with the number of files; returns what is called after each.

    Raises:
        FetchError: they could not be read.
    """
    done, pickled = progress(len(wanted)), [name for name in wanted if name.endswith(".bin")]
    others = [name for name in wanted if name not in pickled]
    read = dict(shards.read(others, done)) if others else {}
    return read | {name: _shard(file) for name, file in (shards.pickles(pickled, done) if pickled else {}).items()}


def _shard(file: Pickle | Broken) -> Shard:
    """A pickled file as the checks of modules take it; what torch.load refuses by default cannot be read."""
    if isinstance(file, Broken):
        return Shard(file.name, file.size, problem=file.problem, fix=file.fix)
    if finding := next(refused(file), None):
        return Shard(file.name, file.size, problem=finding.message, fix=finding.fix)
    return shard(file)
