"""Finds model_types by the names of stored modules; recorded by tests/tools/modules.py."""

import json
from collections.abc import Collection
from functools import cache
from pathlib import Path

from hfcount.verifier.causes.stored_rows import Text

FILE = Path(__file__).with_name("modules.json")
"""One line for each set of names: the names, and the types that have them."""


def module_of(text: Text) -> str:
    """The last name of the module that holds a tensor, such as `q_proj`; the tensor's own name if it is in none."""
    *modules, name = "".join(text)[1:].split(".")
    return modules[-1] if modules else name


def may_have(model_type: str, names: Collection[str]) -> bool:
    """Whether a type may describe modules of these names: it has half of them when its config says nothing.

    A type that is not recorded may. What a config switches on or off are seldom half of the kinds of modules.
    """
    known = _types().get(model_type)
    return known is None or 2 * len(known.intersection(names)) >= len(names)


def is_like(model_type: str, names: Collection[str]) -> bool:
    """Whether modules of these names may be all that a type has: it has half of them, and they are half of what it has.

    A type that is not recorded may.
    """
    known = _types().get(model_type)
    return known is None or 2 * len(known.intersection(names)) >= max(len(names), len(known))


@cache
def _types() -> dict[str, frozenset[str]]:
    recorded = json.loads(FILE.read_text(encoding="utf-8"))
    return {kind: frozenset(names.split()) for kinds, names in recorded.items() for kind in kinds.split()}
