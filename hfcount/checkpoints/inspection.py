"""Options of an inspection, the evidence that is read, and the result."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.cache import built
from hfcount.errors import FetchError
from hfcount.fetcher.interface import Documents
from hfcount.fetcher.location import Place
from hfcount.fetcher.module_files import weight_files
from hfcount.fetcher.weights import Weights
from hfcount.formats.index import Index, read_index
from hfcount.formats.json import Document
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Samples
from hfcount.mapper.context_length import Length
from hfcount.mapper.quantization_config import Announcement
from hfcount.mapper.whatif import Changes
from hfcount.options import AskedDepth, Depth, DerivedWith, Extra
from hfcount.record import Record, made
from hfcount.report.figures import AdapterFigures, Failure, TensorRow, TensorStatistics, WeightsFile
from hfcount.serving.cost import Workload
from hfcount.verifier.findings import Outcome
from hfcount.verifier.loaders.loader import Loader
from hfcount.verifier.policy import Policy

if TYPE_CHECKING:
    from hfcount.checkpoints.settings.choose import Settings  # few checkpoints have any
    from hfcount.formats.gguf.header import GgufHeader  # few checkpoints are GGUF


def unwatched(files: int) -> Callable[[], None]:
    """The default of `Options.progress`, which shows nothing."""
    del files
    return lambda: None


def unopened(documents: Documents | Place) -> None:
    """The default of `Options.opened`, which takes note of nothing."""
    del documents


def unread(size: int) -> Callable[[int], None]:
    """The default of `Options.reading`, which shows nothing."""
    del size
    return lambda more: None


class Options(NamedTuple):
    """How far to look, how severe findings are, and what else to do.

    Args:
        save: a folder; what was read is recorded below it.
        extras: optional fields of the report to fill in.
        load: the workload that serving costs are computed for.
        derive_with: what gives names and shapes of a type that no family describes; it is then refused if None.
        indexes: reads the index of a checkpoint; another than the default may keep what it has read.
        blueprints: makes the blueprint of a config's bytes; another than the default may keep what it has made.
        opened: called with what was opened, before it is looked at.
        progress: called with the number of files to read; returns a function that is called after each file.
        reading: called with the bytes of data to read; returns a function that is called with the bytes of each chunk,
            by several threads.
        loaders: those whose verdict is asked for; the home loaders' if there are none.
        settings: what a settings file has set of these options.
        until: when the search for causes ends, on the clock of time.monotonic; None for 300 seconds after its start.
    """

    depth: AskedDepth = "auto"
    policy: Policy = Policy()
    save: Path | None = None
    extras: Collection[Extra] = ()
    load: Workload = Workload()
    progress: Callable[[int], Callable[[], None]] = unwatched
    reading: Callable[[int], Callable[[int], None]] = unread
    derive_with: DerivedWith | None = None
    indexes: Callable[[Document], Index] = read_index
    blueprints: Callable[[bytes, Callable[[], Blueprint]], Blueprint] = built
    opened: Callable[[Documents | Place], None] = unopened
    loaders: Sequence[Loader] = ()
    settings: "Settings | None" = None
    until: float | None = None

    @property
    def of_headers(self) -> "Options":
        """The same for what is done before any data is read."""
        return self._replace(depth="headers") if self.depth == "data" else self


class Contained(Record, kw_only=False):
    """The tensors of a GGUF file, an adapter, or modules, of which no blueprint is needed.

    Args:
        files: how many files of it there are.
        opened: how many of them were read.
        tensors: how many it has.
        bytes: of all tensors, by type.
        total: elements that the configs of its modules describe, where they do.
        rows: the tensors as they are stored, where they are to be listed.
        unserved: why options of serving do not apply to it; empty if they do.
        headers: of its GGUF files and sets that hold models, by the name of the first file; None of one that cannot
            be read.
    """

    files: int = 0
    opened: int = 0
    tensors: int = 0
    bytes: Mapping[str, int] = made(factory=dict)
    total: int | None = None
    rows: tuple[TensorRow, ...] | None = None
    unserved: str = ""
    headers: Mapping[str, "GgufHeader | None"] = made(factory=dict)


class Evidence(Record, kw_only=False):
    """Index, headers and samples that were read of a checkpoint.

    Args:
        index: None if it was not read.
        weights: which weight files are there; None if that was not looked for.
        headers: all weight files that were read, by name; None if none were.
        shards: those of them that are the model.
        others: weight files beside the model that were read, by path: of modules, and of the model's other form.
        samples: pieces of the weight files that were read.
        stale: whether the index names none of the files that are there.
        depth: how far the run looked.
        depth_reason: why headers were read without being asked for.
        unseen: why the run could not look as far as it had to.
        contained: what was read of a container with other names and types of tensors.
        variants: the model's forms in such a container, where there are several, or where they lie beside safetensors.
        container: what holds the weights; None for files of safetensors.
        form: of an adapter, by which loaders are asked about it.
        adapter: what an adapter adds to its base; None for anything else.
        beside: weight files of another container that were compared with these, or all of a model in one of its own.
        statistics: of the values of each tensor, if they were read.
    """

    index: Index | None = None
    weights: Weights | None = None
    headers: Mapping[str, Shard] | None = None
    shards: Mapping[str, Shard] | None = None
    others: Mapping[str, Shard] = made(factory=dict)
    samples: Samples = made(factory=dict)
    stale: bool = False
    depth: Depth = "config"
    depth_reason: str | None = None
    unseen: Failure | None = None
    contained: Contained | None = None
    variants: tuple[WeightsFile, ...] = ()
    container: str | None = None
    form: str = "adapter"
    adapter: AdapterFigures | None = None
    beside: Collection[str] = ()
    statistics: tuple[TensorStatistics, ...] | None = None

    @property
    def fitting_index(self) -> Index | None:
        """The index, unless it is of other files."""
        return None if self.stale else self.index


class Model(NamedTuple):
    """A model as its config describes it; `announced` is what announces a quantisation."""

    documents: Documents
    blueprint: Blueprint
    announced: Sequence[Announcement]

    @property
    def module_files(self) -> list[str]:
        """Paths of the weight files of its sentence-transformers modules."""
        return weight_files(self.documents.companions, self.documents.sizes or ())


def module_shards(documents: Documents, wanted: Collection[str], options: Options) -> Mapping[str, Shard]:
    """Weight files of sentence-transformers modules, as far as they can be read."""
    if not wanted:
        return {}
    from hfcount.checkpoints.pickled_shards import read_weights  # most checkpoints have no modules

    with suppress(FetchError):  # then a finding says that they were not opened
        return read_weights(documents.shards, wanted, options.progress)
    return {}


class Inspection(NamedTuple):
    """One checkpoint with its blueprint, its evidence and its findings.

    Args:
        changes: config keys that a what-if sets, with their values.
        blueprint: None if the config could not be read.
        announced: what announces a quantisation, the config's first.
        evidence: what was read.
        outcome: checks and findings.
        limit: the tokens of a sequence that the config allows; None if it has no limit, or nothing of serving is asked.
        target: the model that a draft was compared with; None if none was named.
    """

    documents: Documents
    options: Options
    changes: Changes
    blueprint: Blueprint | None
    announced: Sequence[Announcement]
    evidence: Evidence
    outcome: Outcome
    limit: Length | None = None
    target: str | None = None
