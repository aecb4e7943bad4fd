"""Checks the class and the files that tokenizer_config.json names, as transformers finds them."""

import json
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from hfcount.fetcher import tokens
from hfcount.fetcher.interface import TOKENIZER_SETTINGS
from hfcount.text import printable, shown
from hfcount.verifier.rules.hf129_tokenizer_refused import TokenizerRefused

_CODE = "refuses to load the tokenizer with trust_remote_code"


@cache
def _recorded() -> Mapping[str, frozenset[str]]:
    values: dict[str, str] = json.loads(files(__package__).joinpath("tokenizer_classes.json").read_bytes())
    return {key: frozenset(text.split()) for key, text in values.items()}


def refused(settings: Mapping[str, Any], model_type: str) -> Iterator[TokenizerRefused]:
    """HF129: what transformers 5.24 refuses (run), or takes the general class for.

    Args:
        settings: the excerpt of tokenizer_config.json.
        model_type: of the model beside it; the class of some types goes before the one that is named.
    """
    kind, mapped, absent = settings.get("tokenizer_class"), settings.get("auto_map"), settings.get(tokens.ABSENT) or []
    if mapped is not None:
        if problem := _mapped_wrong(mapped):
            yield TokenizerRefused(file=TOKENIZER_SETTINGS, problem=problem, key="auto_map")
        for name in (name for name in absent if name.endswith(".py")):
            problem = f"names code in {printable(name, 60)}, which is missing"
            yield TokenizerRefused(file=TOKENIZER_SETTINGS, problem=problem, follows=_CODE, key="auto_map")
    elif kind and not isinstance(kind, str):
        problem = f"has tokenizer_class {shown(kind)}, which is no name"
        yield TokenizerRefused(file=TOKENIZER_SETTINGS, problem=problem, key="tokenizer_class")
    elif isinstance(kind, str) and model_type not in _recorded()["typed"]:
        yield from _of_class(kind, absent)


def lacks_half(kind: str, names: Collection[str]) -> str | None:
    """Which of vocab.json and merges.txt a folder lacks, of a class that is loaded from both alone."""
    if kind.removesuffix("Fast") not in _recorded()["paired"]:
        return None
    return next(tokens.half_missing(names), None)


def _mapped_wrong(mapped: object) -> str | None:
    """Why no class can be read of an auto_map."""
    if not isinstance(mapped, list | dict):
        return f"has auto_map {shown(mapped)}, which names no classes"
    kinds = mapped if isinstance(mapped, list) else mapped.get("AutoTokenizer")
    if kinds is None or (isinstance(kinds, list) and len(kinds) > 1):
        return None
    return f"has {shown(kinds)} for the tokenizer in auto_map, where two classes must be, or one and null"


def _of_class(kind: str, absent: list[str]) -> Iterator[TokenizerRefused]:
    plain, known = kind.removesuffix("Fast"), _recorded()
    half = next((name for name in absent if not name.endswith(".py")), None)
    if half is not None and plain in known["paired"]:
        other = "merges.txt" if half == "vocab.json" else "vocab.json"
        problem = f"names {printable(kind, 60)}, and the folder has {other} without {half}"
        yield TokenizerRefused(file=TOKENIZER_SETTINGS, problem=problem, key="tokenizer_class")
    elif "Tokenizer" in plain and plain not in known["names"] and plain != "PreTrainedTokenizer":
        yield TokenizerRefused(
            file=TOKENIZER_SETTINGS,
            problem=f"names {printable(kind, 60)}",
            follows="has no such class, and loads tokenizer.json without it, where that is there",
            key="tokenizer_class",
        )
