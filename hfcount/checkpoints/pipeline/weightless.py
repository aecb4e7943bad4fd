"""Checks the parts of a pipeline without weights, by the files in a local folder: schedulers and tokenizers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hfcount.checkpoints.pipeline.schedulers import refused_values
from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import tokens
from hfcount.fetcher.location import Place
from hfcount.formats.json import parse_object
from hfcount.formats.model_index import Entry
from hfcount.mapper.class_defaults import declared
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import finding_of
from hfcount.verifier.token_ids import beyond


def scheduler_findings(entry: Entry, place: Place, path: str) -> Iterator[Finding]:
    """HF822: values of a scheduler's config that its class refuses; or what is wrong with the document.

    Args:
        path: of the config.
    """
    try:
        document = place.reader.document(path)
        values = parse_object(document, endless=True) if document else {}
    except DocumentError as error:
        yield finding_of(error, path)
        return
    except FetchError:
        return
    yield from refused_values(entry.kind, values, path)


def tokenizer_findings(
    entry: Entry, folder: Path, names: Sequence[str], configs: Mapping[str, Mapping[str, Any]]
) -> Iterator[Finding]:
    """HF105: tokens that the encoder of a tokenizer has no row for.

    Args:
        names: of the files in the folder; configs: of the parts with weights, by name.
    """
    encoder = entry.name.replace("tokenizer", "text_encoder")
    rows = _rows(configs.get(encoder, {}))
    if rows is None or encoder == entry.name:
        return
    documents = tokens.read(folder, names, entry.name)
    known = [*tokens.added(documents), *tokens.highest(documents)]
    for finding in beyond(known, rows, f"the embedding of {encoder}"):
        yield finding.replace(file=f"{entry.name}/{finding.file}")


def _rows(config: Mapping[str, Any]) -> int | None:
    """The rows of an encoder's embedding; None where its config tells none."""
    text = config.get("text_config")
    values = text if isinstance(text, dict) and "vocab_size" in text else config
    rows = values.get("vocab_size")
    if rows is None and isinstance(kind := values.get("model_type"), str):
        rows = declared(kind).keys.get("vocab_size")
    return rows if type(rows) is int and rows > 0 else None
