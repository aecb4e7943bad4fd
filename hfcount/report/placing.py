"""Where a finding stands in the files of a checkpoint: at the key of a document, or a tensor in the index."""

import re
from collections.abc import Iterator

from hfcount.fetcher.interface import CONFIG, INDEX, Documents
from hfcount.formats import places
from hfcount.formats.json import Document
from hfcount.report.model import Location
from hfcount.text import printable
from hfcount.verifier.finding import Finding


def place(finding: Finding, documents: Documents) -> Location:
    """The file and the line that say what is to be changed; a line is None where no text has it."""
    key = finding.key or next(iter(finding.changes), None)
    if (finding.file or key) or documents.index is None:
        file = finding.file or CONFIG
        return Location(file=printable(file), line=_line(finding, key, _document(documents, file)))
    entries = (places.line_of_name(documents.index.raw, name) for name in _stored(finding))
    line = next(filter(None, entries), None)
    return Location(file=INDEX if line else CONFIG, line=line)


def _document(documents: Documents, file: str) -> Document | None:
    known = {documents.layout.config: documents.config, documents.layout.listing: documents.index}
    return known[file] if file in known else documents.companions.get(file)


def _line(finding: Finding, key: str | None, document: Document | None) -> int | None:
    if document is None:
        return None
    if key is None:
        return places.line_of_error(document.raw) if finding.code == "HF001" else None
    if finding.file == INDEX:  # which may be long, and holds no name twice
        return places.line_of_name(document.raw, key.rpartition(".")[2])
    return places.line_of_key(document.raw, key)


def _stored(finding: Finding) -> Iterator[str]:
    """The first of the tensors, of those that are folded into one row the first as well."""
    for row in finding.tensors[:1]:
        yield re.sub(r"\{(\d+)[^}]*\}", r"\1", row)
