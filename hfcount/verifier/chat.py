"""Checks what ends a generation, the chat template, and that a tokenizer has its words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from hfcount.errors import DocumentError
from hfcount.fetcher import tokens
from hfcount.fetcher.interface import TOKENIZER_SETTINGS
from hfcount.fetcher.layout import CHAT_TEMPLATE, CONFIG, GENERATION, MODULES
from hfcount.formats.json import Document, parse_object
from hfcount.text import printable, shown
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Outcome

_GENERATING = ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel")
_LONGEST = 200_000  # characters of a template that is looked at; the longest known has 20,000
_NAMED = 4  # ids that a message gives


class Ends(NamedTuple):
    """Where ids are announced at which generation ends, and which; `word` is the tokenizer's eos token."""

    config: Sequence[int]
    generation: Sequence[int]
    tokenizer: Sequence[int]
    word: str

    @property
    def text(self) -> str:
        """What each file announces."""
        rows = [
            (CONFIG, "eos_token_id", self.config),
            (GENERATION, "eos_token_id", self.generation),
            (TOKENIZER_SETTINGS, f"eos_token {printable(self.word, 60)}", self.tokenizer),
        ]
        return ", ".join(
            f"{file} has {key} {', '.join(map(str, ids[:_NAMED]))}{' ...' if ids[_NAMED:] else ''}"
            for file, key, ids in rows
            if ids
        )

    @property
    def differ(self) -> bool:
        """Whether two of them have no id in common: of the configs, or of what generation ends at and the tokenizer."""
        used = self.generation or self.config
        pairs = ((self.generation, self.config), (used, self.tokenizer))
        return any(left and right and {*left}.isdisjoint(right) for left, right in pairs)


def check_chat(c: Comparison, outcome: Outcome) -> None:
    """HF124 to HF126, HF128, HF129, HF824: of a tokenizer that lies beside the model."""
    documents = c.weights.companions
    _check_files(documents, outcome)
    settings = tokens.settings(documents)
    if not settings and GENERATION not in documents and CHAT_TEMPLATE not in documents:
        return
    ids = {token: number for _, token, number in tokens.added(documents)}
    ends = _ends(c, settings, ids)
    if ends.differ and (GENERATION in documents or c.blueprint.spec.architecture.endswith(_GENERATING)):
        from hfcount.verifier.rules.hf125_ends_differ import EndsDiffer

        outcome.report(
            EndsDiffer(file=GENERATION if ends.generation else CONFIG, key="eos_token_id", announced=ends.text)
        )
    for file, template in _templates(documents, settings):
        _check_template(file, template, ends, ids, outcome)
    _check_words(c, settings, outcome)
    if c.weights.listed and not settings.keys().isdisjoint(("auto_map", "tokenizer_class")):
        from hfcount.verifier.tokenizer_files import refused

        for finding in refused(settings, c.blueprint.spec.family):
            outcome.report(finding)


def _check_files(documents: Mapping[str, Document], outcome: Outcome) -> None:
    """HF824: files that cannot be parsed; HF129: values in them that are refused."""
    for file, problem in tokens.unreadable(documents):
        from hfcount.verifier.rules.hf824_companion_unreadable import CompanionUnreadable

        if file not in (*tokens.PROCESSORS, GENERATION) and _is_embedder(documents):
            from hfcount.verifier.loaders.labels import SENTENCE_TRANSFORMERS

            says = f"{SENTENCE_TRANSFORMERS} refuses to load the model"
            outcome.report(CompanionUnreadable(severity="error", file=file, problem=problem, follows=says))
        else:
            outcome.report(CompanionUnreadable(file=file, problem=problem))
    for file, key, problem in tokens.refused(documents):
        from hfcount.verifier.rules.hf129_tokenizer_refused import TokenizerRefused

        late = key in tokens.LENGTHS
        follows = "loads the tokenizer, which fails on every text" if late else "refuses to load the tokenizer"
        outcome.report(TokenizerRefused(file=file, problem=problem, key=key, follows=follows))


def _check_template(file: str, template: Any, ends: Ends, ids: Mapping[str, int], outcome: Outcome) -> None:
    """HF126: a template that is none, or does not parse; HF124: one whose turns end otherwise."""
    from hfcount.formats.chat_template import TemplateError, text_after_messages  # many have none
    from hfcount.verifier.rules.hf126_chat_template_broken import ChatTemplateBroken

    if not isinstance(template, str):
        outcome.report(ChatTemplateBroken(file=file, problem=f"it is {shown(template)}"))
        return
    try:
        texts = [*text_after_messages(template)]
    except TemplateError as error:
        outcome.report(ChatTemplateBroken(file=file, problem=str(error)))
        return
    _check_turns(file, texts, ends, ids, outcome)


def _is_embedder(documents: Mapping[str, Document]) -> bool:
    """Whether the model is the Transformer of modules.json, which brings its tokenizer along."""
    if MODULES not in documents:
        return False
    from hfcount.formats.modules_json import read_modules  # most are no embedders

    with suppress(DocumentError):
        return any(not module.folder and module.kind == "Transformer" for module in read_modules(documents[MODULES]))
    return False


def _check_turns(file: str, texts: Sequence[str], ends: Ends, ids: Mapping[str, int], outcome: Outcome) -> None:
    """HF124: a template none of whose turns ends with a token at which generation ends."""
    from hfcount.formats.chat_template import EOS

    known = {*ends.config, *ends.generation, *ends.tokenizer}
    last = [ends.word if text == EOS else _first(text, ids) for text in texts]
    told = dict.fromkeys(token for token in last if token)
    if not known or not told or any(token == ends.word or ids.get(token) in known for token in told):
        return
    from hfcount.verifier.rules.hf124_turn_end_unannounced import TurnEndUnannounced

    token = next(iter(told))
    outcome.report(TurnEndUnannounced(file=file, token=token, observed=ids[token], announced=ends.text))


def _first(text: str, ids: Mapping[str, int]) -> str:
    """The longest added token that a text begins with; empty if it begins with none."""
    begin = text.lstrip()
    return max((token for token in ids if token and begin.startswith(token)), key=len, default="")


def _ends(c: Comparison, settings: Mapping[str, Any], ids: Mapping[str, int]) -> Ends:
    word = settings.get("eos_token")
    word = word.get("content") if isinstance(word, dict) else word
    word = word if isinstance(word, str) else ""
    named = [token.value for token in c.blueprint.token_ids if is_end(token.key)]
    return Ends(named, generation_ends(c.weights.companions), [ids[word]] if word in ids else [], word)


def is_end(key: str) -> bool:
    """Whether a key of a config names an id at which generation ends."""
    return key.rpartition(".")[2] == "eos_token_id"


def generation_ends(documents: Mapping[str, Document]) -> list[int]:
    """The ids of generation_config.json at which generation ends."""
    with suppress(DocumentError):
        value = parse_object(documents[GENERATION]).get("eos_token_id") if GENERATION in documents else None
        return [number for number in (value if isinstance(value, list) else [value]) if type(number) is int]
    return []


def _templates(documents: Mapping[str, Document], settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The chat templates, with the files that they are in; one that is no text as it is."""
    templates: list[tuple[str, Any]]
    if CHAT_TEMPLATE in documents:
        templates = [(CHAT_TEMPLATE, documents[CHAT_TEMPLATE].raw.decode("utf-8", "replace"))]
    else:
        value = settings.get("chat_template")
        several = (
            [row.get("template") for row in value if isinstance(row, dict)] if isinstance(value, list) else [value]
        )
        templates = [(TOKENIZER_SETTINGS, template) for template in several if template]
    for file, template in templates:
        if not isinstance(template, str) or len(template) <= _LONGEST:
            yield file, template


def _check_words(c: Comparison, settings: Mapping[str, Any], outcome: Outcome) -> None:
    """HF128: a folder that names a tokenizer and has no file of its words; code of its own may need none."""
    kind = settings.get("tokenizer_class")
    if not isinstance(kind, str) or not kind or "auto_map" in settings or not c.weights.listed:
        return
    if re.fullmatch(tokens.WITHOUT_WORDS, kind) or not settings.get(tokens.WORDLESS):
        return
    from hfcount.verifier.rules.hf128_vocabulary_missing import VocabularyMissing

    outcome.report(VocabularyMissing(file=TOKENIZER_SETTINGS, kind=kind))
