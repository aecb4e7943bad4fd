"""Which module names of earlier versions of transformers PEFT converts when it loads a LoRA: old_names.tsv.

Each row has a type whose modules have other names in memory than in checkpoints, and the old names that PEFT leaves as
they are, so that their tensors are not applied: `*` for all, `#` for a number.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)")
_ALL = "*"


@cache
def _kept() -> Mapping[str, frozenset[str]]:
    rows = files(__package__).joinpath("old_names.tsv").read_text("utf-8").splitlines()
    pairs = (row.split("\t") for row in rows if not row.startswith("#"))
    return {family: frozenset(names.split()) for family, names in pairs}


def is_recorded(family: str) -> bool:
    """Whether it is known which old names of a type PEFT converts."""
    return family in _kept()


def are_kept(family: str) -> bool:
    """Whether PEFT converts no name of this type of base."""
    return _ALL in _kept().get(family, ())


def is_kept(family: str, path: str) -> bool:
    """Whether PEFT leaves the old name of a module as it is."""
    return _NUMBER.sub("#", path) in _kept().get(family, ())
