"""Where a finding stands in the files of a checkpoint: at the key of a document, or a tensor in the index."""

import re

from hfcount.fetcher.interface import Documents
from hfcount.fetcher.layout import CONFIG, INDEX
from hfcount.formats import line_numbers
from hfcount.formats.json import Document
from hfcount.report.figures import Location
from hfcount.text import printable
from hfcount.verifier.finding import Finding


def location(finding: Finding, documents: Documents) -> Location:
    """The file and the line that say what is to be changed; a line is None where no text has it."""
    key, index = finding.key or next(iter(finding.changes), None), documents.index
    file = finding.file or (CONFIG if key else None)
    if file is None:
        line = _entry(finding, index)
        return Location(file=INDEX if line else CONFIG, line=line)
    document = _document(documents, file)
    if document is None and index and file not in (documents.shards.names or ()):  # a file that is not there
        line = line_numbers.line_of_text(index.raw, file)
        return Location(file=INDEX if line else printable(file), line=line)
    return Location(file=printable(file), line=_line(finding, key, document))


def _document(documents: Documents, file: str) -> Document | None:
    known = {documents.layout.config: documents.config, documents.layout.listing: documents.index}
    return known[file] if file in known else documents.companions.get(file)


def _line(finding: Finding, key: str | None, document: Document | None) -> int | None:
    if document is None:
        return None
    if finding.file == INDEX:  # which may be long, and has its keys in no other object
        return line_numbers.line_of_name(document.raw, key.rpartition(".")[2]) if key else _entry(finding, document)
    return line_numbers.line_of_key(document.raw, key) if key else line_numbers.line_of_error(document.raw)


def _entry(finding: Finding, index: Document | None) -> int | None:
    """The line of the first tensor in the index; of tensors that are folded into one row, the first as well."""
    if index is None:
        return None
    if not finding.tensors:
        return line_numbers.line_of_error(index.raw) if finding.file == INDEX else None
    return line_numbers.line_of_name(index.raw, re.sub(r"\{(\d+)[^}]*\}", r"\1", finding.tensors[0]))
