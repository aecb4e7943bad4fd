"""Inspects adapters in subfolders, such as training checkpoints; a row for each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hfcount.checkpoints.adapter.inspect import inspect as inspect_one
from hfcount.checkpoints.forms import Besides
from hfcount.checkpoints.inspection import Contained, Inspection, Options
from hfcount.errors import FetchError
from hfcount.fetcher.interface import Request
from hfcount.fetcher.layout import ADAPTER
from hfcount.fetcher.location import FileReader, Place
from hfcount.formats.json import Document
from hfcount.report.figures import Failure, WeightsFile
from hfcount.text import plural, printable
from hfcount.verifier.findings import Outcome

_MOST = 50  # folders that are looked into


@dataclass(frozen=True, slots=True)
class SubfolderReader:
    """Reads the files of a folder below."""

    reader: FileReader
    folder: str

    def document(self, name: str) -> Document | None:
        """As FileReader has it."""
        return self.reader.document(f"{self.folder}/{name}")

    def range(self, name: str, start: int, stop: int) -> bytes:
        """As FileReader has it."""
        return self.reader.range(f"{self.folder}/{name}", start, stop)

    def close(self) -> None:
        """Whoever has opened the whole closes it."""


def inspect(place: Place, request: Request, options: Options) -> Inspection:
    """Inspects the adapters in subfolders; the figures are those of the first sound one.

    Raises:
        FetchError: they could not be read, or there are too many.
    """
    folders = sorted(name.rpartition("/")[0] for name in place.sizes if name.endswith(f"/{ADAPTER}"))
    if len(folders) > _MOST:
        text = (
            f"{printable(place.label)} has {plural(len(folders), 'adapter')} in sub-folders; hfcount checks at"
            f" most {_MOST}"
        )
        raise FetchError("UnreadableFile", f"{text} at once. Name one with --subfolder.")
    adapters = {folder: inspect_one(_below(place, folder), request, options) for folder in folders}
    sound = [adapter for adapter in adapters.values() if adapter.outcome.proven]
    return _together(place, adapters, sound[0] if sound else adapters[folders[0]])


def beside(place: Place, request: Request, model: Inspection) -> Besides:
    """Adapters below a model are for whatever they say, and not looked at."""
    del place, request, model
    return Besides()


def _below(place: Place, folder: str) -> Place:
    start = f"{folder}/"
    sizes = {name.removeprefix(start): size for name, size in place.sizes.items() if name.startswith(start)}
    # A path in a file of a local folder is relative to that folder.
    model = f"{place.model}/{folder}" if place.source in ("folder", "fixtures") else place.model
    return place._replace(model=model, sizes=sizes, reader=SubfolderReader(place.reader, folder))


def _together(place: Place, adapters: Mapping[str, Inspection], first: Inspection) -> Inspection:
    outcome = Outcome(stored=first.outcome.stored, dtypes=first.outcome.dtypes)
    for folder, adapter in adapters.items():
        for finding in adapter.outcome.findings:
            outcome.report(finding.replace(file=f"{folder}/{finding.file}") if finding.file else finding)
    outcome.errors_first()
    outcome.checks = list(first.outcome.checks)
    outcome.proven = all(adapter.outcome.proven for adapter in adapters.values())
    contents = [adapter.evidence.contained or Contained() for adapter in adapters.values()]
    contained = (first.evidence.contained or Contained()).replace(
        files=sum(adapter.files for adapter in contents),
        opened=sum(adapter.opened for adapter in contents),
    )
    evidence = first.evidence.replace(
        contained=contained,
        unseen=_unseen(adapters),
        variants=tuple(_rows(adapters)),
        beside=tuple(f"{folder}/{name}" for folder, adapter in adapters.items() for name in adapter.evidence.beside),
    )
    return first._replace(
        documents=first.documents.replace(model=place.model, files=list(place.sizes), sizes=place.sizes),
        evidence=evidence,
        outcome=outcome,
    )


def _unseen(adapters: Mapping[str, Inspection]) -> Failure | None:
    reasons = {folder: unseen for folder, adapter in adapters.items() if (unseen := adapter.evidence.unseen)}
    if not reasons:
        return None
    folder, first = next(iter(reasons.items()))
    more = f" ({plural(len(reasons), 'adapter')} in all)" if len(reasons) > 1 else ""
    return first.replace(message=f"{printable(folder)}: {first.message}{more}")


def _rows(adapters: Mapping[str, Inspection]) -> Iterator[WeightsFile]:
    for folder, adapter in adapters.items():
        figures, contained = adapter.evidence.adapter, adapter.evidence.contained
        wrong: Sequence[str] = [finding.code for finding in adapter.outcome.findings if finding.severity == "error"]
        bits = 8 * figures.bytes / figures.parameters if figures and figures.bytes and figures.parameters else None
        yield WeightsFile(
            file=printable(folder),
            files=1,
            role="adapter",
            parameters=figures.parameters if figures else None,
            bytes=dict(contained.bytes) if contained else {},
            bits_per_weight=round(bits, 2) if bits else None,
            verdict="mismatch" if wrong else "verified" if adapter.outcome.proven else "unverified",
        )
