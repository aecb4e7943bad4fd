"""Reads a checkpoint's base models from the tags of a listing or the metadata of its card."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hfcount.fetcher.interface import is_inside

CARD, FRONT = "README.md", 20_000
"""The card, and the bytes of it that are read for its metadata."""

MOST = 16
"""Bases that are taken of one checkpoint."""

_REPO = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}", re.ASCII)
_WORD = re.compile(r"\w{1,40}", re.ASCII)
_TAG = re.compile(r"base_model:(?:(\w{1,40}):)?([^:]+)", re.ASCII)
_NAMED = re.compile(r"^base_model:[ \t]*([^\r\n]*)((?:\r?\n[ \t]*-[ \t]+\S+)*)", re.MULTILINE)
_RELATION = re.compile(r"^base_model_relation:[ \t]*[\"']?(\w+)", re.MULTILINE)


class NamedBase(NamedTuple):
    """A base model's repo, and the checkpoint's relation to it, such as `merge` or `finetune`, if given."""

    model: str
    relation: str | None = None


def is_repo(name: str) -> bool:
    """Whether what a file names as its base may be a repo of the Hub; a path on somebody's disk is none."""
    return _REPO.fullmatch(name) is not None and is_inside(name) and ".." not in name


def by_tags(tags: object) -> tuple[NamedBase, ...]:
    """The bases in the tags of a listing, which names each with its relation and without."""
    relations = dict[str, str | None]()
    for tag in tags if isinstance(tags, list) else ():
        match = _TAG.fullmatch(tag) if isinstance(tag, str) else None
        if match and is_repo(match[2]):
            relations[match[2]] = match[1] or relations.get(match[2])
    return tuple(NamedBase(*base) for base in relations.items())[:MOST]


def by_metadata(card: object) -> tuple[NamedBase, ...]:
    """The bases in the metadata of a card, as a listing has it."""
    if not isinstance(card, Mapping):
        return ()
    names, relation = card.get("base_model"), card.get("base_model_relation")
    return _named(names if isinstance(names, list) else [names], relation)


def by_text(text: str) -> tuple[NamedBase, ...]:
    """The bases in the metadata of a card."""
    front = _front(text)
    relation = _RELATION.search(front)
    return _named(names(text), relation and relation[1])


def names(text: str) -> Iterator[str]:
    """What `base_model` names in the metadata of a card, one or several, in whatever form."""
    for line in _NAMED.finditer(_front(text)):
        inline = re.split(r"[\[\],\s]+", line[1].partition(" #")[0])
        for name in (*inline, *re.findall(r"-[ \t]+(\S+)", line[2])):
            if stripped := name.strip("\"'[],"):
                yield stripped


def _front(text: str) -> str:
    front = re.match(r"\ufeff?---[ \t]*\r?\n(.*?)\r?\n---", text, re.DOTALL)
    return front[1] if front else ""


def _named(candidates: Any, relation: object) -> tuple[NamedBase, ...]:
    repos = dict.fromkeys(name for name in candidates if isinstance(name, str) and is_repo(name))
    word = relation if isinstance(relation, str) and _WORD.fullmatch(relation) else None
    return tuple(NamedBase(name, word) for name in repos)[:MOST]
