"""Checks the parts of a pipeline without weights, by the files in a local folder: schedulers and tokenizers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.checkpoints.pipeline.schedulers import refused_values
from hfcount.checkpoints.pipeline.signatures import padding
from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import tokens
from hfcount.fetcher.interface import TOKENIZER_SETTINGS
from hfcount.fetcher.location import Place
from hfcount.formats.json import Document, parse_object
from hfcount.formats.model_index import Entry
from hfcount.mapper.class_defaults import declared
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import finding_of
from hfcount.verifier.loaders.labels import DIFFUSERS
from hfcount.verifier.rules.hf824_companion_unreadable import CompanionUnreadable
from hfcount.verifier.token_ids import beyond
from hfcount.verifier.tokenizer_files import lacks_half


def scheduler_findings(entry: Entry, place: Place, path: str, pipeline: str) -> Iterator[Finding]:
    """HF822: values of a scheduler's config that its class or the pipeline refuses; or what is wrong with the document.

    Args:
        path: of the config.
        pipeline: the class of the pipeline.
    """
    try:
        document = place.reader.document(path)
        values = parse_object(document, endless=True) if document else {}
    except DocumentError as error:
        yield finding_of(error, path)
        return
    except FetchError:
        return
    yield from refused_values(entry.kind, values, path, pipeline)


class Words(NamedTuple):
    """A tokenizer or processor of a pipeline in a local folder: its part, its documents and the names of its files."""

    entry: Entry
    documents: Mapping[str, Document]
    names: Sequence[str]

    @classmethod
    def read(cls, entry: Entry, folder: Path, names: Sequence[str]) -> "Words":
        """Reads what a folder with these files says."""
        return cls(entry, tokens.read(folder, names, entry.name), names)

    @property
    def is_tokenizer(self) -> bool:
        """Whether it is loaded as a tokenizer."""
        return "Token" in self.entry.kind

    @property
    def settings(self) -> Mapping[str, Any]:
        """What its own settings say, as far as they can be read."""
        return tokens.settings(self.documents)


def unloadable_words(words: Words) -> Iterator[Finding]:
    """HF824, HF129: files that cannot be parsed, or are missing, without which the class loads nothing."""
    entry = words.entry
    for file, problem in tokens.unreadable(words.documents):
        if (file in tokens.PROCESSORS) is not words.is_tokenizer or entry.kind.endswith("Processor"):
            yield CompanionUnreadable(
                severity="error",
                file=f"{entry.name}/{file}",
                problem=f"{entry.name}: {problem}",
                follows=f"{DIFFUSERS} refuses to load the pipeline",
            )
    if half := lacks_half(entry.kind, words.names):
        from hfcount.verifier.rules.hf129_tokenizer_refused import TokenizerRefused

        yield TokenizerRefused(severity="error", file=entry.name, problem=f"has no {half} beside its other half")


def endless(words: Words, pipeline: str) -> Iterator[Finding]:
    """HF823: a tokenizer without a length, to which the pipeline pads."""
    readable = not any(True for _ in tokens.unreadable(words.documents))
    lacks = all(words.settings.get(key) is None for key in tokens.LENGTHS)
    if words.entry.name in padding(pipeline) and readable and lacks:
        from hfcount.verifier.rules.hf823_tokenizer_length_missing import TokenizerLengthMissing

        file = f"{words.entry.name}/{TOKENIZER_SETTINGS}"
        yield TokenizerLengthMissing(
            kind=pipeline,
            part=words.entry.name,
            key=tokens.LENGTHS[0],
            file=file,
            there=TOKENIZER_SETTINGS in words.names,
        )


def tokenizer_findings(words: Words, configs: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    """HF105: tokens that the encoder of a tokenizer has no row for.

    Args:
        configs: of the parts with weights, by name.
    """
    entry, documents = words.entry, words.documents
    encoder = entry.name.replace("tokenizer", "text_encoder")
    rows = _rows(configs.get(encoder, {}))
    if rows is None or encoder == entry.name:
        return
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
