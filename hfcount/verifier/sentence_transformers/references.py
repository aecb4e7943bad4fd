"""By which paths sentence-transformers imports its classes: module_paths.tsv.

Each row has the name of a class, and the modules of the package that have it, those of older versions included.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from hfcount.formats.modules_json import PACKAGE, Module

_ALIKE = 0.85  # share of characters that two names have in common of which one is the other misspelt
_LONGEST = 100  # characters of a name that are compared


@cache
def _paths() -> Mapping[str, frozenset[str]]:
    rows = files(__package__).joinpath("module_paths.tsv").read_text("utf-8").splitlines()
    pairs = (row.split("\t") for row in rows if not row.startswith("#"))
    return {kind: frozenset(places.split()) for kind, places in pairs}


def is_importable(module: Module) -> bool:
    """Whether sentence-transformers can import a module's class, or that is unknown.

    A path without a dot names no module of Python. Of another package nothing is known, nor of a name that is unlike
    all that are recorded: a newer version may have it.
    """
    place, dot, kind = module.reference.rpartition(".")
    if not dot:
        return False
    if module.package != PACKAGE:
        return True
    if places := _paths().get(kind):
        return place.removeprefix(PACKAGE).removeprefix(".") in places
    from difflib import get_close_matches  # only for what is unknown

    return not get_close_matches(kind[:_LONGEST], _paths(), 1, _ALIKE)
