"""The index of pickled weights, written again from what the files hold; the files themselves are never changed."""

import json
from collections.abc import Iterator
from typing import Any

from hfcount.fetcher.interface import BIN_INDEX, BIN_SINGLE
from hfcount.fetcher.missing import named
from hfcount.formats.json import parse_object
from hfcount.repair.state import Proposal, State
from hfcount.text import plural, printable

_CODES = ("HF007", "HF205", "HF401", "HF402")


def reindexed(state: State) -> Iterator[Proposal]:
    """The index that pickled files give, where theirs is not there or says something else."""
    run, found = state.run, [finding for finding in state.about(*_CODES) if finding.file == BIN_INDEX]
    files = run.evidence.shards if run.evidence.container == "pickle" else None
    headers = {name: shard.header for name, shard in (files or {}).items() if shard.header}
    if not found or not files or len(headers) < len(files) or BIN_SINGLE in files:
        return
    weight_map = {name: file for file, header in sorted(headers.items()) for name in header.tensors}
    if len(weight_map) != sum(len(header.tensors) for header in headers.values()):
        return  # two files hold a tensor of one name
    old = _old(state)
    gone = [name for name in old.get("weight_map", ()) if name not in weight_map]
    metadata = {**(old.get("metadata") or {}), "total_size": sum(header.data for header in headers.values())}
    content = {**old, "metadata": metadata, "weight_map": dict(sorted(weight_map.items()))}
    yield Proposal(
        frozenset(code for finding in found for code in finding.codes),
        f"Write {BIN_INDEX} from {named(sorted(headers))}.",
        {BIN_INDEX: f"{json.dumps(content, indent=2)}\n".encode()},
        doubt=_doubt(gone),
    )


def _old(state: State) -> dict[str, Any]:
    document = state.draft.document(BIN_INDEX)
    return dict(parse_object(document)) if document else {}


def _doubt(gone: list[str]) -> str:
    if not gone:
        return ""
    return (
        f"The index names {plural(len(gone), 'tensor')} that no file has, such as {printable(gone[0])}: they stay lost."
        " If you have the file, restore it instead."
    )
