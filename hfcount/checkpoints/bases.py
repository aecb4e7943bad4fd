"""The base that an adapter or a GGUF file was made of: who names it, and the blueprint of its config."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.errors import HfcountError
from hfcount.fetcher.base_config import base_config, base_in_tree
from hfcount.fetcher.interface import Request
from hfcount.fetcher.layout import CONFIG
from hfcount.fetcher.location import Place
from hfcount.fetcher.model_card import CARD, FRONT, is_repo, names
from hfcount.formats.json import Document, parse_object
from hfcount.mapper import Config
from hfcount.report.figures import Failure
from hfcount.text import printable


@dataclass(frozen=True, slots=True)
class Base:
    """The base of a model.

    Args:
        label: what messages call it.
        blueprint: None if its config could not be read, and `problem` says why.
        binding: whether a person named it, so that a difference is an error.
        values: of its config; empty if that could not be read.
    """

    label: str
    blueprint: Blueprint | None = None
    problem: Failure | None = None
    binding: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)


def base_of(place: Place, request: Request, named: Sequence[str] = (), ask: bool | None = None) -> Base | None:
    """The base of what is at a place: --base, a config.json beside it, or whom its files or its card name.

    Args:
        named: what its files name, the first that may be a repo is taken.
        ask: whether the Hub may be asked for it unasked; by default for a repo of the Hub alone.

    Returns:
        None if nothing names one.
    """
    if request.base:
        return _built(printable(request.base), lambda: base_config(request.base or "", request), binding=True)
    if CONFIG in place.sizes:
        return _built(CONFIG, lambda: place.reader.document(CONFIG))
    if ask is None:
        ask = not place.local or place.source == "fixtures"
    for name in named:
        recorded = place.source == "fixtures" and is_repo(name)
        if path := None if recorded else base_in_tree(place, request, name):
            return _built(printable(path), partial(base_config, path, request))
    repo = next((name for name in chain(named, _by_card(place) if ask else ()) if is_repo(name)), None)
    if repo is None:
        return None
    if not ask:
        problem = Failure(kind="NotAsked", message="local folders are checked without network")
        return Base(repo, problem=problem)
    return _built(repo, lambda: base_config(repo, request, trusted=False))


def _built(label: str, read: Callable[[], Document | None], binding: bool = False) -> Base:
    try:
        document = read()
        if document is None:
            return Base(label, problem=Failure(kind="NoConfig", message=f"{label} cannot be read"), binding=binding)
        values = parse_object(document, endless=True)
        blueprint = build(Config(values, where=document.where))
        if blueprint.custom_code:
            raise blueprint.custom_code
    except (HfcountError, ValueError) as error:
        kind = error.kind if isinstance(error, HfcountError) else "BadName"
        return Base(label, problem=Failure(kind=kind, message=str(error).rstrip(".")), binding=binding)
    return Base(label, blueprint, binding=binding, values=values)


def _by_card(place: Place) -> Iterator[str]:
    """The base_model in the metadata of the card, one or several."""
    if CARD in place.sizes:
        yield from names(place.reader.range(CARD, 0, FRONT).decode("utf-8", "replace"))
