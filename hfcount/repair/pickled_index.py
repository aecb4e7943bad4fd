"""Rewrites the index of pickled weights; the weight files never change."""

import json
from collections.abc import Iterator
from typing import Any

from hfcount.errors import DocumentError
from hfcount.fetcher.layout import BIN_INDEX, BIN_SINGLE
from hfcount.fetcher.reasons import named
from hfcount.formats.index import read_index
from hfcount.formats.json import Document, parse_object
from hfcount.formats.safetensors import Header
from hfcount.repair.state import ENTRY, Proposal, State
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding

_CODES = ("HF001", "HF002", "HF005", "HF007", "HF205", "HF401", "HF402")


def reindexed(state: State) -> Iterator[Proposal]:
    """Writes the index of pickled files if it is missing or wrong."""
    findings = [finding for finding in state.about(*_CODES) if _is_of_index(finding, state)]
    headers = _headers(state.with_changes({BIN_INDEX: None})) if findings else {}
    weight_map = {name: file for file, header in sorted(headers.items()) for name in header.tensors}
    if not weight_map or len(weight_map) != sum(len(header.tensors) for header in headers.values()):
        return  # nothing is known of a file, or two hold a tensor of one name
    old = _old(state)
    gone = [name for name in _announced(state) if name not in weight_map]
    metadata = {**(old.get("metadata") or {}), "total_size": sum(header.data for header in headers.values())}
    content = {**old, "metadata": metadata, "weight_map": dict(sorted(weight_map.items()))}
    yield Proposal(
        frozenset(code for finding in findings for code in finding.codes),
        f"Write {BIN_INDEX} from {named(sorted(headers))}.",
        {BIN_INDEX: f"{json.dumps(content, indent=2)}\n".encode()},
        doubt=_doubt(gone),
    )


def _is_of_index(finding: Finding, state: State) -> bool:
    """Whether a finding is about the pickled index, including files that it names and that are missing."""
    return finding.file == BIN_INDEX or (finding.code == "HF005" and state.draft.document(BIN_INDEX) is not None)


def _headers(state: State) -> dict[str, Header]:
    """The contents of several pickled files; empty unless known for all."""
    evidence = state.run.evidence
    files = evidence.shards or {}
    headers = {name: shard.header for name, shard in files.items() if shard.header}
    complete = evidence.container == "pickle" and len(headers) == len(files) and BIN_SINGLE not in files
    return headers if complete else {}


def _old(state: State) -> dict[str, Any]:
    """The current index, if readable."""
    document = state.draft.document(BIN_INDEX)
    try:
        if document is None:
            return {}
        read_index(document, ".bin")
        return dict(parse_object(Document(document.where, document.raw)))
    except DocumentError:
        return {}


def _announced(state: State) -> list[str]:
    """Names in the index, even if truncated."""
    return [*_old(state).get("weight_map", ())] or ENTRY.findall(state.text(BIN_INDEX))


def _doubt(gone: list[str]) -> str:
    if not gone:
        return ""
    return (
        f"The index names {plural(len(gone), 'tensor')} that no file has, such as {printable(gone[0])}: they stay lost."
        " If you have the file, restore it instead."
    )
