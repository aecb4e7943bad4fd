"""One checkpoint under inspection: what was asked, what was read, what was found."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hfcount.fetcher.interface import Documents
from hfcount.formats.index import Index
from hfcount.formats.safetensors import Shard
from hfcount.mapper.whatif import Changes
from hfcount.plan import Blueprint
from hfcount.report.choices import AskedDepth
from hfcount.report.model import Depth, Extra, Failure
from hfcount.report.serving import Workload
from hfcount.verifier.findings import Outcome
from hfcount.verifier.policy import Policy


def unwatched(files: int) -> Callable[[], None]:
    """The progress of a run that nobody watches."""
    del files
    return lambda: None


@dataclass(frozen=True, slots=True)
class Options:
    """How far to look, how severe findings are, and what else to do.

    Args:
        save: a folder to record below what was read.
        extras: what else the report should hold.
        load: the workload that serving costs are computed for.
        progress: called with the number of files to read; what it returns is called once for each file that is done.
    """

    depth: AskedDepth = "auto"
    policy: Policy = field(default_factory=Policy)
    save: Path | None = None
    extras: Collection[Extra] = ()
    load: Workload = field(default_factory=Workload)
    progress: Callable[[int], Callable[[], None]] = unwatched


@dataclass(slots=True)
class Inspection:
    """Everything known of one checkpoint; each step of the pipeline fills in its own.

    Args:
        documents: what was fetched, and `options` what was asked.
        changes: keys of the config that a what-if sets.
        blueprint: None where the config could not be read, and `quant_method` the scheme it announces.
        index: None where it was not read, like `shards`, which are by file name.
        depth: how far the run looked, and `depth_reason` why it read headers without being asked to.
        unseen: why it could not look as far as it had to.
    """

    documents: Documents
    options: Options = field(default_factory=Options)
    changes: Changes = field(default_factory=dict)
    blueprint: Blueprint | None = None
    quant_method: str | None = None
    index: Index | None = None
    shards: Mapping[str, Shard] | None = None
    outcome: Outcome = field(default_factory=Outcome)
    depth: Depth = "config"
    depth_reason: str | None = None
    unseen: Failure | None = None
