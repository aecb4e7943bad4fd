"""Checks that every token id has a row in the embedding."""

from collections.abc import Iterable, Iterator

from hfcount.architectures import families
from hfcount.fetcher import tokens
from hfcount.fetcher.interface import TOKENIZER
from hfcount.fetcher.layout import CONFIG, GENERATION
from hfcount.formats.vocabularies import is_placeholder
from hfcount.mapper.class_defaults import declared
from hfcount.mapper.token_ids import TokenId
from hfcount.spec.tree.dims import Dim
from hfcount.text import plural, printable
from hfcount.verifier.chat import generation_ends, is_end
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.finding import Finding, Severity
from hfcount.verifier.findings import Outcome
from hfcount.verifier.loaders.facts import facts, versions

_VOCABULARIES = ("vocab_size", "text_vocab_size", "padded_vocab_size", "decoder_vocab_size")
_PLACEHOLDERS = ("image_token", "video_token", "audio_token")
_BEGINS = "decoder_start_token"
_ALWAYS = ("pad_token", _BEGINS)
_NAMED = 3  # ids that a message gives


def check_token_ids(c: Comparison, outcome: Outcome) -> None:
    """HF104: an error where the id is sure to be looked up, a note where it may never be used."""
    tables = list(_tables(c))
    generation = [TokenId("eos_token_id", number, False) for number in generation_ends(c.weights.companions)]
    groups: dict[tuple[Severity, bool, str], list[tuple[TokenId, int, str]]] = {}
    for file, token_ids in ((CONFIG, c.blueprint.token_ids), (GENERATION, generation)):
        for token_id in token_ids:
            known = _table_of(token_id, tables)
            if known and _is_beyond(token_id, known[0]) and (severity := _severity(c, token_id)):
                key = (severity, is_end(token_id.key), file)
                groups.setdefault(key, []).append((token_id, *known))
    for (severity, ends, file), group in groups.items():
        from hfcount.verifier.rules.hf104_id_beyond_vocabulary import IdBeyondVocabulary

        first, rows, table = group[0]
        named = c.blueprint.token_ids if file == CONFIG else generation
        reached = ends and any(is_end(token_id.key) and 0 <= token_id.value < rows for token_id in named)
        ids = [f"{printable(beyond.key)} is {beyond.value:,}" for beyond, _, _ in group[:_NAMED]]
        outcome.report(
            IdBeyondVocabulary(
                severity=severity,
                expected=rows,
                observed=first.value,
                key=first.key,
                file=file,
                tensors=(table,),
                fix=IdBeyondVocabulary.remedy if severity == "error" else None,
                ends=ends,
                reached=reached,
                ids=", ".join(ids) + (f" and {plural(len(group) - _NAMED, 'more id')}" if len(group) > _NAMED else ""),
                table=table,
            )
        )


def _is_beyond(token_id: TokenId, rows: int) -> bool:
    """Whether an id has no row; one for padding is counted from the end where it is below 0 (torch.nn.Embedding)."""
    padding = token_id.key.rpartition(".")[2].startswith("pad_token")
    return token_id.value >= rows or (padding and token_id.value < -rows)


def check_tokenizer(c: Comparison, outcome: Outcome) -> None:
    """HF105: words and added tokens without a row; a note where they only pad, or another input takes their place.

    HF127: added tokens behind a gap, or of other files than the vocabulary's with the ids of words.
    """
    added = [*tokens.added(c.weights.companions), *tokens.highest(c.weights.companions)]
    claims = [claim for claim in tokens.claims(c.weights.companions) if claim.file != TOKENIZER or not claim.word]
    if claims:
        from hfcount.verifier.rules.hf127_token_renumbered import TokenRenumbered

        file, token, number, word, given = claims[0]
        more = len(claims) - 1
        outcome.report(TokenRenumbered(file=file, token=token, observed=number, word=word, expected=given, more=more))
    largest = max((table[1:] for table in _tables(c)), default=None) if added else None
    if largest is None:
        return
    rows, table = largest
    for finding in beyond(added, rows, table):
        outcome.report(finding.replace(tensors=(table,)))


def beyond(known: Iterable[tuple[str, str, int]], rows: int, table: str) -> Iterator[Finding]:
    """HF105: tokens that an embedding has no row for; placeholders, which are not looked up, as a note.

    Args:
        known: the file, the token and the id of each.
        table: what the embedding is called.
    """
    groups: dict[Severity, dict[int, tuple[str, str]]] = {}
    for file, token, number in known:
        if number >= rows:
            groups.setdefault("note" if is_placeholder(token) else "error", {}).setdefault(number, (file, token))
    for severity, by_id in groups.items():
        from hfcount.verifier.rules.hf105_token_beyond_embedding import TokenBeyondEmbedding

        first = min(by_id)
        file, token = by_id[first]
        yield TokenBeyondEmbedding(
            severity=severity,
            expected=rows,
            observed=first,
            file=file,
            token=token,
            more=len(by_id) - 1,
            table=table,
        )


def _tables(c: Comparison) -> Iterator[tuple[str, int, str]]:
    """Each embedding of tokens: where in the config its size is, its rows as described or, if more, as stored."""
    for leaf in c.blueprint.leaves:
        rows = leaf.shape[0] if leaf.component == "embedding" and len(leaf.shape) == 2 else None
        for key, _ in rows.read() if isinstance(rows, Dim) else ():
            path, _, last = key.removesuffix(", by default").rpartition(".")
            if last in _VOCABULARIES:
                entry = c.view.entries.get(c.spelling.get(leaf.name, leaf.name)) if c.view else None
                yield path, max(leaf.shape[0], *(entry.shape[:1] if entry else ()), 0), leaf.name


def _table_of(token_id: TokenId, tables: list[tuple[str, int, str]]) -> tuple[int, str] | None:
    """The largest embedding of the part of the config that has the id, or else of the parts below; rows and name."""
    place = token_id.key.rpartition(".")[0]
    exact = [table[1:] for table in tables if table[0] == place]
    below = [table[1:] for table in tables if not place or table[0].startswith(f"{place}.")]
    return max(exact or below, default=None)


def _severity(c: Comparison, token_id: TokenId) -> Severity | None:
    """How bad it is that an id has no row; None if nothing comes of it, or it is a default for another vocabulary."""
    stem = token_id.key.rpartition(".")[2].rpartition("_")[0]
    placeholder = stem.endswith(_PLACEHOLDERS)
    if placeholder and families.replaces_placeholders(c.blueprint.spec):
        return None
    begins = stem != _BEGINS or "encoder" in c.blueprint.spec.parts  # else no decoder begins with it
    if placeholder or (stem in _ALWAYS and begins):
        return "note" if token_id.usual or (stem == "pad_token" and not _is_padded(c, token_id)) else "error"
    return None if token_id.usual else "note"


def _is_padded(c: Comparison, token_id: TokenId) -> bool:
    """Whether the library builds the embedding with a row for padding, without which it refuses the id."""
    kind = c.blueprint.spec.family
    for part in token_id.key.split(".")[:-1]:
        known = declared(kind).parts.get(part)
        kind = known.kind if known else ""
    recorded = facts(versions()[-1], kind)
    return recorded is None or recorded.padded
