"""Reads of a tokenizer's files what a checkpoint is held against, and keeps only that so that recordings stay small."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import files
from hfcount.fetcher.interface import ADDED_TOKENS, SHORT, SPECIAL_TOKENS, TOKENIZER, TOKENIZER_SETTINGS, TOKENS
from hfcount.fetcher.layout import CHAT_TEMPLATE, GENERATION, HEADERS
from hfcount.fetcher.token_settings import refused_model, refused_values
from hfcount.formats import vocabularies
from hfcount.formats.json import Document, parse_object
from hfcount.formats.vocabularies import Vocabulary
from hfcount.text import printable

_MOST = 4_000_000  # bytes that are read: thousands of added tokens, which come before the vocabulary
BEGINNING = 524_288
"""Bytes that are asked of a Hub: some 3,000 added tokens."""

_WHOLE = 64_000_000  # bytes of a file that has the vocabulary
_DECODER = json.JSONDecoder()
WORDLESS = "wordless"
"""Where an excerpt of the settings says that no file in the folder may have the tokenizer's words."""

LENGTHS = ("model_max_length", "max_len")
"""Keys for the most tokens of a text (transformers 5.24, tokenization_utils_base.py:1076)."""

ABSENT = "absent"
"""Where it says which files are missing that its code, or a file beside it, needs."""

_PAIR = ("vocab.json", "merges.txt")
PROCESSORS = ("preprocessor_config.json", "processor_config.json", "video_preprocessor_config.json")
"""Settings of what makes tensors of images and sounds (transformers 5.24)."""

_WORDS = (  # compiled where it is first used
    r"(?i).*(vocab|tokenizer\.(?!jinja)|tekken|tiktoken|spiece|sentencepiece|bpe|merges|dict\.txt).*"
    r"|.*\.(model|spm|codes)"
)
REFUSED = "refused"
"""Where an excerpt has what transformers refuses in a file: keys, and what is said of each."""

UNREADABLE = "unreadable"
"""Where an excerpt says why a file cannot be parsed."""

_PARSED = 262_144  # bytes of a file that is parsed as a whole; of longer ones both ends are looked at
_ENDS = 100  # bytes at either end in which a file has a brace

WITHOUT_WORDS = r"(Byt5|ByT5|Canine|Perceiver)Tokenizer(Fast)?"
"""Classes that have no file with words (transformers 5.23, vocab_files_names)."""

_KEYS = {
    TOKENIZER_SETTINGS: (
        "added_tokens_decoder",
        "eos_token",
        "chat_template",
        "tokenizer_class",
        "auto_map",
        *LENGTHS,
        WORDLESS,
        ABSENT,
        REFUSED,
    ),
    SPECIAL_TOKENS: (REFUSED,),
    TOKENIZER: ("added_tokens",),
}


def read(folder: Path, names: Collection[str], label: str | None) -> dict[str, Document]:
    """The documents of a folder about tokens, by file; what cannot be read is left out.

    Args:
        names: of the files that the folder has.
        label: what messages call the documents; their paths when None.
    """

    top = {name: None for name in names if "/" not in name}
    known, parts = dict[str, int](), dict[str, bytes | None]()
    vocabulary = TOKENIZER if TOKENIZER in top else vocabularies.file_of(top)
    if vocabulary is not None:
        known, parts[vocabulary] = _of_words(folder, vocabulary, recorded=HEADERS in top)
    for name in (name for name in (*TOKENS, SPECIAL_TOKENS) if name in top and name != TOKENIZER):
        raw, cut = _beginning(folder / name, _MOST)
        parts[name] = None if raw is None else _with_claims(name, excerpt(name, raw, cut), known)
    parts[TOKENIZER_SETTINGS] = marked(TOKENIZER_SETTINGS, parts.get(TOKENIZER_SETTINGS), top)
    parts |= {name: _of_companion(folder, name) for name in (*PROCESSORS, GENERATION, CHAT_TEMPLATE) if name in top}
    wanted = dict.fromkeys((*TOKENS, *parts))
    return {
        name: Document((label and f"{label} {name}") or printable(str(folder / name)), part)
        for name in wanted
        if (part := parts.get(name)) is not None
    }


def _of_words(folder: Path, name: str, recorded: bool) -> tuple[dict[str, int], bytes | None]:
    """The words of a file with a vocabulary, and what is kept of it; of a recording it is an excerpt itself."""
    raw, cut = _beginning(folder / name, _WHOLE)
    if raw is None:
        return {}, None
    known, part = _of_vocabulary(name, raw, cut)
    return known, (None if recorded or cut or name != TOKENIZER else _of_empty(raw)) or part


def _of_companion(folder: Path, name: str) -> bytes | None:
    """What is kept of a processor's settings, those of generation, or the template."""
    raw, cut = _beginning(folder / name, _MOST if name in PROCESSORS else SHORT)
    if raw is None or name not in PROCESSORS:
        return None if raw is None else excerpt(name, raw, cut)
    problem = _problem(name, raw, cut)
    return json.dumps({UNREADABLE: problem}).encode() if problem else None


def _beginning(path: Path, most: int) -> tuple[bytes | None, bool]:
    """What is read of a file, None if it cannot be, and whether that is only its beginning."""
    with suppress(FetchError), files.opened(path, path.name) as file:
        raw = file.read(most + 1) if file else None
        return raw and raw[:most], raw is not None and len(raw) > most
    return None, False


def excerpt(name: str, raw: bytes, cut: bool) -> bytes | None:
    """What is kept of a file, as a smaller file; None if that is nothing.

    Args:
        cut: whether it is only the beginning of the file.
    """
    if name in (GENERATION, CHAT_TEMPLATE):
        return None if cut else raw
    if name == TOKENIZER or name in vocabularies.FILES:
        return _of_vocabulary(name, raw, cut)[1]
    if problem := _problem(name, raw, cut):
        return json.dumps({UNREADABLE: problem}).encode()
    keys = _KEYS.get(name)
    if keys is None:
        return raw
    if not cut:
        with suppress(ValueError, RecursionError):
            value = json.loads(raw)
            kept = {key: value[key] for key in keys if value.get(key) is not None} if isinstance(value, dict) else {}
            if isinstance(value, dict) and (problems := dict(refused_values(name, value))):
                kept[REFUSED] = problems
            return json.dumps(kept).encode() if kept else None
    text = raw.decode("utf-8", "ignore")
    kept = {key: value for key in keys[:1] if (value := _value(text, key, cut))}
    return json.dumps(kept).encode() if kept else None


def _problem(name: str, raw: bytes, cut: bool) -> str | None:
    """Why a file of JSON cannot be parsed; None if nothing is known to be wrong with it."""
    if not name.endswith(".json"):
        return None
    begins, ends = raw[:_ENDS].lstrip()[:1] == b"{", raw[-_ENDS:].rstrip()[-1:] == b"}"
    if begins and (cut or (ends and len(raw) > _PARSED)):
        return None
    with suppress(ValueError, RecursionError):
        if isinstance(content := json.loads(raw), dict):
            why = content.get(UNREADABLE) if name != GENERATION and len(content) == 1 else None
            if isinstance(why, str):
                return why  # as the excerpt of a recording says
            return _no_tokenizer(content) if name == TOKENIZER else None
    try:
        parse_object(Document(name, raw))
    except DocumentError as error:
        return error.text
    return None


_MODELS = ("BPE", "WordPiece", "WordLevel", "Unigram")  # of tokenizers 0.23


def _no_tokenizer(content: Mapping[str, Any]) -> str | None:
    """Why a tokenizer.json is none; None if nothing is known to be wrong with it."""
    # An excerpt has added tokens alone, or nothing.
    if content.keys() <= {"added_tokens", REFUSED} or _CLAIMS in content:
        return None
    for key, kind in (("added_tokens", list), ("model", dict)):
        if not isinstance(content.get(key), kind):
            return f"{TOKENIZER} has no {key}."
    named = content["model"].get("type")
    if isinstance(named, str) and named not in _MODELS:
        return f"{TOKENIZER} has a model of type {printable(named, 60)}, but must have {', '.join(_MODELS)}."
    return None


def _of_empty(raw: bytes) -> bytes | None:
    """What is kept of a tokenizer.json that is an empty object, which no excerpt is; None of another."""
    empty = len(raw) <= _ENDS and raw.split() in ([b"{}"], [b"{", b"}"])
    return json.dumps({UNREADABLE: f"{TOKENIZER} has no added_tokens."}).encode() if empty else None


def unreadable(documents: Mapping[str, Document]) -> Iterator[tuple[str, str]]:
    """The files about tokens and generation that cannot be parsed: each name, and why in a sentence."""
    for name in (
        name for name in (*TOKENS, SPECIAL_TOKENS, *vocabularies.FILES, *PROCESSORS, GENERATION) if name in documents
    ):
        if name == GENERATION:
            if problem := _problem(name, documents[name].raw, False):
                yield name, problem
            continue
        with suppress(DocumentError):
            if isinstance(problem := parse_object(documents[name]).get(UNREADABLE), str):
                yield name, problem


def refused(documents: Mapping[str, Document]) -> Iterator[tuple[str, str, str]]:
    """What transformers refuses in the files of a tokenizer: the file, the key, and what it has."""
    for name in (name for name in (ADDED_TOKENS, TOKENIZER_SETTINGS, SPECIAL_TOKENS, TOKENIZER) if name in documents):
        with suppress(DocumentError):
            content = parse_object(documents[name])
            told = dict(refused_values(name, content)) if name == ADDED_TOKENS else content.get(REFUSED)
            for key, problem in told.items() if isinstance(told, dict) else ():
                if isinstance(problem, str):
                    yield name, key, problem


def has_words(names: Iterable[str]) -> bool:
    """Whether any of these files may have the words of a tokenizer."""
    return any(re.fullmatch(_WORDS, name) for name in names)


def marked(name: str, part: bytes | None, names: Collection[str]) -> bytes | None:
    """The excerpt of the settings with what it says of files that are missing; any other as it is.

    Args:
        names: of all files beside it; those of a recording are not all that there were.
    """
    if name != TOKENIZER_SETTINGS or part is None or HEADERS in names:
        return part
    values = json.loads(part)
    missing = [*_modules_missing(values.get("auto_map"), names), *half_missing(names)]
    more = {**({} if has_words(names) else {WORDLESS: True}), **({ABSENT: missing} if missing else {})}
    return json.dumps({**values, **more}).encode() if more else part


def _modules_missing(mapped: object, names: Collection[str]) -> Iterator[str]:
    """The file of the tokenizer's own class, if it is missing; a class of another repo is not looked for."""
    kinds = mapped.get("AutoTokenizer") if isinstance(mapped, dict) else mapped
    if isinstance(kinds, list) and len(kinds) > 1:
        chosen = kinds[1] if kinds[1] is not None else kinds[0]  # transformers 5.24, tokenization_auto.py:950
        if isinstance(chosen, str) and "--" not in chosen and (file := f"{chosen.partition('.')[0]}.py") not in names:
            yield file


def half_missing(names: Collection[str]) -> Iterator[str]:
    """The half of vocab.json and merges.txt that is missing where no other file has the words."""
    words = [name for name in names if "/" not in name and re.fullmatch(_WORDS, name)]
    if len(words) == 1 and words[0] in _PAIR:
        yield _PAIR[1 - _PAIR.index(words[0])]


def _of_vocabulary(name: str, raw: bytes, cut: bool) -> tuple[dict[str, int], bytes | None]:
    """The words of a file with a vocabulary, empty where it is cut off, and what is kept of it."""
    if problem := _problem(name, raw, cut):
        return {}, json.dumps({UNREADABLE: problem}).encode()
    if name != TOKENIZER:
        words = {} if cut else vocabularies.words(name, raw)
        if not (cut or words) and raw and name.endswith(".model") and not vocabularies.is_model(raw):
            return {}, json.dumps(
                {UNREADABLE: f"{printable(name)} holds no words of sentencepiece or tiktoken."}
            ).encode()
        return words, json.dumps(vocabularies.highest(words)).encode() if words else None
    text = raw.decode("utf-8", "ignore")
    words = {} if cut else vocabularies.words_of_tokenizer(text)
    rows = _value(text[:_MOST], "added_tokens", cut or len(text) > _MOST)
    if isinstance(rows, list | None):
        last = vocabularies.highest(words).items()
        rows = [*(rows or ()), *({"id": number, "content": word} for word, number in last)]
    kept = {"added_tokens": rows} if rows else {}
    if not cut and len(raw) <= _PARSED and (problems := dict(_of_model(raw))):
        kept[REFUSED] = problems
    return words, _with_claims(name, json.dumps(kept).encode() if kept else None, words)


def _of_model(raw: bytes) -> Iterator[tuple[str, str]]:
    """What is refused of the model in a tokenizer.json."""
    with suppress(ValueError, RecursionError):
        content = json.loads(raw)
        if isinstance(content.get(REFUSED), dict):
            yield from content[REFUSED].items()  # as the excerpt of a recording says
        elif isinstance(model := content.get("model"), dict):
            yield from refused_model(model)


class Claim(NamedTuple):
    """A file gives a token the id of a `word` of the vocabulary, or of none behind a gap; loading gives it another."""

    file: str
    token: str
    claimed: int
    word: str
    number: int


def _with_claims(name: str, part: bytes | None, words: Vocabulary) -> bytes | None:
    """What is kept of a file, with the claims of its added tokens where the words are known."""
    if part is None or not words:
        return part
    document = Document(name, part)
    try:
        content = parse_object(document)
    except DocumentError:
        return part
    if _CLAIMS in content:
        return part
    new = {token: number for _, token, number in added({name: document}) if token not in words}
    last = max(words.values())
    claimed = {number for number in new.values() if number <= last}
    taken = {number: word for word, number in words.items() if number in claimed} if claimed else {}
    rows = [
        [token, number, taken.get(number, ""), place]
        for place, (token, number) in enumerate(new.items(), len(words))
        if number in taken or (name == TOKENIZER and number != place)
    ]
    return json.dumps({**content, _CLAIMS: rows}).encode() if rows else part


_CLAIMS = "claims"
"""Where an excerpt has them: token, id, word, and the id that the token gets."""


def claims(documents: Mapping[str, Document]) -> Iterator[Claim]:
    """The added tokens that claim the ids of words, which tokenizers 0.23 gives ids behind the vocabulary.

    In a tokenizer.json it does that with all that are no words, in their order, whatever ids they claim.
    So do transformers 4.57 and 5.23 with the ids of all three files, whether these are in reach or not (run).
    """
    for name in (name for name in TOKENS if name in documents):
        with suppress(DocumentError):
            rows = parse_object(documents[name]).get(_CLAIMS)
            for row in rows if isinstance(rows, list) else ():
                if isinstance(row, list) and [type(part) for part in row] == [str, int, str, int]:
                    yield Claim(name, *row)


def highest(documents: Mapping[str, Document]) -> Iterator[tuple[str, str, int]]:
    """The words of the highest ids of a vocabulary in a file of its own: the file, the word, its id."""
    for name, document in documents.items():
        if name in vocabularies.FILES or ("tiktoken" in name and re.fullmatch(vocabularies.TIKTOKEN, name)):
            with suppress(DocumentError):
                for word, number in parse_object(document).items():
                    if type(number) is int:
                        yield name, word, number


def settings(documents: Mapping[str, Document]) -> Mapping[str, Any]:
    """What tokenizer_config.json says; empty where there is none of its form."""
    with suppress(DocumentError):
        return parse_object(documents[TOKENIZER_SETTINGS]) if TOKENIZER_SETTINGS in documents else {}
    return {}


def _value(text: str, key: str, cut: bool) -> Any:
    """The value of a key; None if it is not there or not whole, but of a list that is cut off what is there."""
    start = text.find(f'"{key}"')
    if start < 0:
        return None
    start += len(key) + 2
    start += len(text[start : start + 100]) - len(text[start : start + 100].lstrip(" \t\r\n:"))
    try:
        return _DECODER.raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return list(_entries(text, start + 1)) if cut and text[start : start + 1] == "[" else None


def _entries(text: str, place: int) -> Iterator[Any]:
    """The entries of a list that is cut off."""
    with suppress(ValueError, RecursionError):
        while True:
            place += len(text[place : place + 100]) - len(text[place : place + 100].lstrip(" \t\r\n,"))
            value, place = _DECODER.raw_decode(text, place)
            yield value


def added(documents: Mapping[str, Document]) -> Iterator[tuple[str, str, int]]:
    """Added tokens: the file, what the token is, and the id that it gets; nothing of a file of another form."""
    for name in (name for name in TOKENS if name in documents):
        try:
            content = parse_object(documents[name])
        except DocumentError:
            continue
        given = {claim.token: claim.number for claim in claims({name: documents[name]})}
        for token, number in _TOKENS[name](content):
            if isinstance(token, str) and type(number) is int:
                yield name, token, given.get(token, number)


def _listed(content: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Of tokenizer.json: {"added_tokens": [{"id", "content"}]}; in an excerpt the words of the highest ids end it."""
    value = content.get("added_tokens")
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, dict):
            yield entry.get("content"), entry.get("id")


def _by_id(content: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Of tokenizer_config.json: {"added_tokens_decoder": {id: {"content"}}}."""
    value = content.get("added_tokens_decoder")
    for key, entry in value.items() if isinstance(value, dict) else ():
        if isinstance(entry, dict) and key.isdecimal() and len(key) < 19:
            yield entry.get("content"), int(key)


_TOKENS: Mapping[str, Callable[[Mapping[str, Any]], Iterable[tuple[Any, Any]]]] = {
    ADDED_TOKENS: lambda content: content.items(),
    TOKENIZER_SETTINGS: _by_id,
    TOKENIZER: _listed,
}
"""Tokens with their ids, by the file that has them; no other file has any."""
