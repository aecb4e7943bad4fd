"""The tensors of a base that change when a PEFT adapter is merged."""

from collections.abc import Callable, Sequence

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.adapter.modules import Era, ModuleSet, containers, modules
from hfcount.checkpoints.adapter.settings import ADAPTER_CONFIG, Settings, read_settings
from hfcount.checkpoints.adapter.targets import Patterns, Refused, Unread, choose
from hfcount.diffing.tensors import keyed
from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import Request, opened
from hfcount.fetcher.location import Place
from hfcount.fetcher.model_names import understood
from hfcount.text import printable


class Unmerged(Exception):
    """The targets of an adapter are unknown; the argument says why."""


def targets(named: str, like: Request, blueprint: Blueprint | None) -> tuple[list[str], list[str]]:
    """Keys of the tensors that must differ after a merge, and of those that may.

    Args:
        named: the adapter, as MODEL.
        like: the request whose options are reused.
        blueprint: the blueprint of the base.

    Raises:
        Unmerged: the adapter cannot be read, or its settings are not supported.
    """
    if blueprint is None:
        raise Unmerged("hfcount does not know the architecture of A")
    settings = _settings(named, like)
    every: tuple[Era, ...] = ("memory", "checkpoint")
    key = keyed(blueprint)
    for era in every:
        known = modules(blueprint.spellings, era, blueprint.leaves)
        try:
            chosen = choose(settings, [*known, *containers(known)], Patterns())
        except (Unread, Refused) as error:
            raise Unmerged(str(error)) from None
        names = [f"{target.path}.weight" for target in chosen.targets] + [
            f"{parameter.path}.{parameter.name}" for parameter in chosen.parameters
        ]
        if names and not chosen.unmatched:
            described = _described(blueprint, key)
            wanted = [stored_key for name in names for stored_key in described.get(key(name), [key(name)])]
            return wanted, [key(name) for name in _allowed(settings, known)]
    raise Unmerged(f"{printable(named)} names modules that A does not have, or none")


def _described(blueprint: Blueprint, key: Callable[[str], str]) -> dict[str, list[str]]:
    """Keys of the tensors that a fused or stacked tensor holds, by its key."""
    by_stored: dict[str, list[str]] = {}
    for swap in blueprint.spellings.swaps(blueprint.leaves):
        if len(swap.stored) == 1:
            stored = swap.stored[0].names()
            for names in (leaf.names() for leaf in swap.described):
                each = len(names) // len(stored)
                for place, name in enumerate(stored):
                    by_stored.setdefault(key(name), []).extend(map(key, names[place * each : (place + 1) * each]))
    return by_stored


def _settings(named: str, like: Request) -> Settings:
    asked = like.replace(model=named, revision=None, subfolder=None, files=None, headers=None, file=None)
    try:
        opening = opened(understood(asked))
        place = opening if isinstance(opening, Place) else opening.place
        document = place.reader.document(ADAPTER_CONFIG) if place else None
        if place:
            place.reader.close()
        if document is None:
            raise Unmerged(f"{printable(named)} has no {ADAPTER_CONFIG}")
        return read_settings(document)
    except (FetchError, DocumentError, ValueError) as error:
        raise Unmerged(str(error)) from None


def _allowed(settings: Settings, known: Sequence[ModuleSet]) -> list[str]:
    """Tensors saved in full, trained biases, and embeddings with trained token rows."""
    saved = settings.saved
    biases = settings.values.get("bias") in ("all", "lora_only")
    rows = bool(settings.values.get("trainable_token_indices"))
    return [
        f"{path}.{name}"
        for module in known
        for path in module.paths()
        for name in module.tensors
        if any(f".{module_path}." in f".{path}." for module_path in saved)
        or (biases and name == "bias")
        or (rows and (module.kind == "embedding" or module.head))
    ]
