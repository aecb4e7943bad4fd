"""Values in the files of a tokenizer that transformers refuses, whatever the class of the tokenizer is.

Recorded by running: transformers 5.24 loaded tokenizers of two classes with 24 values of each key.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.fetcher.interface import ADDED_TOKENS, SPECIAL_TOKENS, TOKENIZER_SETTINGS
from hfcount.text import is_whole_number, printable, shown

_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_CLAIMS = ("claims", list)
"""What an excerpt has besides, see tokens.py."""

_FURTHER = ("extra_special_tokens", "additional_special_tokens")
_SIDES = ("padding_side", "truncation_side")


def refused_values(name: str, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys whose values are refused in a file of this name, each with what it has, as a sentence goes on."""
    if name == ADDED_TOKENS:
        for token, number in values.items():
            if not isinstance(number, int | float) and (token, type(number)) != _CLAIMS:
                yield token, f"gives {printable(token, 60)} the id {shown(number)}, which is no number"
        return
    if name not in (TOKENIZER_SETTINGS, SPECIAL_TOKENS):
        return
    for key in _TOKENS:
        if not isinstance(values.get(key), str | dict | None):
            yield key, f"has {key} {shown(values[key])}, which is no token"
    if name == TOKENIZER_SETTINGS and "auto_map" not in values:
        yield from _of_settings(values)


def _of_settings(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "added_tokens_decoder" in values:
        yield from _of_added(values["added_tokens_decoder"])
    for key in _FURTHER:
        further = values.get(key)
        tokens = further.values() if isinstance(further, dict) else further if isinstance(further, list) else ()
        if not isinstance(further, list | dict | None) or not all(isinstance(token, str | dict) for token in tokens):
            yield key, f"has {key} {shown(further)}, which must be tokens"
    templates = values.get("chat_template")
    if isinstance(templates, list) and not all(
        isinstance(one, dict) and {"name", "template"} <= one.keys() for one in templates
    ):
        yield "chat_template", "has a list for chat_template, of which not each entry has a name and a template"
    if isinstance(values.get("model_max_length"), str | list | dict):
        yield "model_max_length", f"has model_max_length {shown(values['model_max_length'])}, which is no number"
    for key in _SIDES:
        if key in values and values[key] not in ("left", "right"):
            yield key, f"has {key} {shown(values[key])}, which must be left or right"


def _of_added(value: Any) -> Iterator[tuple[str, str]]:
    key = "added_tokens_decoder"
    if not isinstance(value, dict):
        yield key, f"has {key} {shown(value)}, which must be an object"
        return
    for number, token in value.items():
        if not is_whole_number(number):
            yield key, f"has {printable(number, 60)} in {key}, which is no id"
        elif not isinstance(token, dict) or not isinstance(token.get("content", ""), str):
            yield key, f"has no token for {printable(number, 60)} in {key}"


def refused_model(model: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What tokenizers 0.23 refuses of the words and the merges of a tokenizer.json: the key, and what it has."""
    words = model.get("vocab")
    if not isinstance(words, dict):
        return
    for word, number in words.items():
        if type(number) is not int or not 0 <= number < 2**32:
            yield "vocab", f"gives {printable(word, 60)} the id {shown(number)}, which is none"
            return
    merges, prefix = model.get("merges"), model.get("continuing_subword_prefix") or ""
    for merge in merges if isinstance(merges, list) and isinstance(prefix, str) else ():
        halves = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(halves, list) or len(halves) != 2 or not all(isinstance(half, str) for half in halves):
            yield "merges", f"has a merge that is none, {shown(merge)}"
            return
        for word in (*halves, f"{halves[0]}{halves[1][len(prefix) :]}"):
            if word not in words:
                yield "merges", f"merges {printable(word, 60) or 'nothing'}, which is no word of it"
                return
