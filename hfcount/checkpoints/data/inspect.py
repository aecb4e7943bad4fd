"""Inspects the values of the tensors, the stage after the headers."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hfcount.checkpoints.data.locations import TensorLocation, places
from hfcount.checkpoints.inspection import Inspection
from hfcount.errors import FetchError
from hfcount.fetcher.data_files import ListedChecksum, listed_checksum
from hfcount.fetcher.interface import Request
from hfcount.report.figures import Failure
from hfcount.verifier.finding import Finding, Severity
from hfcount.version import missing

if TYPE_CHECKING:
    from hfcount.checkpoints.data.source import Source, Values


def with_values(request: Request, inspection: Inspection) -> Inspection:
    """Adds findings about the values of the tensors, or the reason why they were not read."""
    try:
        return _looked(request, inspection)
    except FetchError as error:
        return _unseen(inspection, error.kind, str(error))


def _looked(request: Request, inspection: Inspection) -> Inspection:
    if find_spec("numpy") is None:
        return _unseen(inspection, "NoNumpy", missing("--depth data", "numpy"))
    from hfcount.checkpoints.data.file_source import FileSource  # which imports numpy
    from hfcount.checkpoints.data.stored_values import stored_values

    stored = stored_values(request, inspection)
    if stored is None or not (stored.places or stored.unread):
        return _unseen(inspection, "NoData", "no header of a weight file was read, so its values cannot be read")
    known = {name: checksum for name in stored.files if (checksum := listed_checksum(stored.folder / name))}
    inspection = _with_findings(inspection, FileSource(stored.folder), stored.places, known)
    return _unseen(inspection, "NoData", stored.unread) if stored.unread else inspection


def of_memory(inspection: Inspection, tensors: Mapping[str, Any]) -> Inspection:
    """Adds findings about the values of tensors in memory, given by name.

    Raises:
        ImportError: there is no numpy.
    """
    if find_spec("numpy") is None:
        raise ImportError(missing("data=True", "numpy"))
    from hfcount.checkpoints.data.memory_source import MemorySource

    shards = inspection.evidence.shards or {}
    where = places(shards)
    return _with_findings(inspection, MemorySource(tensors, where), where, {})


def _with_findings(
    inspection: Inspection, source: "Source", where: Mapping[str, TensorLocation], known: Mapping[str, ListedChecksum]
) -> Inspection:
    """The same with the figures of all values of a source, and what is wrong with them.

    Args:
        where: the tensors by name.
        known: what the Hub has listed for some of the files.

    Raises:
        FetchError: a file cannot be read.
    """
    from hfcount.checkpoints.data import faults, subjects, tied_copies

    done = inspection.options.reading(sum(place.size for place in where.values()))
    values = source.read(where, known, done)
    tensors = subjects.subjects(where, values.tallies, inspection)
    outcome = inspection.outcome
    tied, untied = tied_copies.differing(tensors, source, outcome)
    outcome.findings = [
        *(finding for finding in outcome.findings if not (tied and finding.code == "HF203")),
        *faults.findings(tensors, source, outcome),
        *tied,
        *_damaged(values, known),
    ]
    outcome.errors_first()
    outcome.untied |= untied
    statistics = tuple(tensor.statistics for tensor in tensors)
    return inspection._replace(evidence=inspection.evidence.replace(depth="data", statistics=statistics))


def _damaged(values: "Values", known: Mapping[str, ListedChecksum]) -> Iterator[Finding]:
    """Files that are not as the Hub has listed them."""
    for name, (sha256, later) in known.items():
        observed = values.sums.get(name)
        if observed is not None and observed != sha256:
            from hfcount.verifier.rules.hf907_contents_differ import ContentsDiffer  # a copy is mostly whole

            severity: Severity = "note" if later else "error"
            yield ContentsDiffer(severity=severity, expected=sha256, observed=observed, file=name, later=later)


def _unseen(inspection: Inspection, kind: str, why: str) -> Inspection:
    evidence = inspection.evidence
    unseen = evidence.unseen or Failure(kind=kind, message=why)
    return inspection._replace(evidence=evidence.replace(unseen=unseen))
