"""Finds the base that a checkpoint names, and compares their weight files by checksum."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import files, folder, model_card
from hfcount.fetcher.checksums import Content
from hfcount.fetcher.interface import Documents, Request, top_level
from hfcount.fetcher.model_card import CARD, FRONT, NamedBase
from hfcount.formats.json import Document, parse_object, parse_value

if TYPE_CHECKING:
    from hfcount.fetcher.location import Place
    from hfcount.report.model import Report

Source = Literal["tags", "card", "adapter", "config"]
"""Where a base is named: Hub tags, model card, adapter_config.json, or `_name_or_path` (the weakest)."""

Sameness = Literal["identical", "some", "other", "unknown"]
"""How many weight files are the base's: all, some or none; `unknown` without checksums."""

_WEIGHTS = re.compile(
    r"(?:.*/)?(?:(?!adapter_)[^/]*\.(?:safetensors|gguf)|[^/]*(?:model|consolidated)[^/]*\.(?:bin|pth?|ckpt))"
)
_KEY = b'"_name_or_path"'


class BaseLink(NamedTuple):
    """A base that a checkpoint names.

    Args:
        model: the repo.
        relation: how the checkpoint was made from it, if stated.
        source: where it is named.
        weights: how many weight files are the base's; None if not compared.
        same, files: the number of equal files, and of all.
    """

    model: str
    relation: str | None
    source: Source
    weights: Sameness | None = None
    same: int | None = None
    files: int | None = None


class WeightSums:
    """The checksums of weight files.

    Args:
        files: contents by path.
    """

    def __init__(self, files: Mapping[str, Content]) -> None:
        contents = [content for name, content in files.items() if is_weights(name)]
        self._sums = {item for content in contents for item in content.sums.items()}
        self._sizes: dict[frozenset[str], set[int | None]] = {}
        for content in contents:
            self._sizes.setdefault(_kinds(content), set()).add(content.size)

    def has(self, content: Content) -> bool | None:
        """Whether a file is among them; None if no checksum decides."""
        if not self._sums.isdisjoint(content.sums.items()):
            return True
        kinds = _kinds(content)
        for others, sizes in self._sizes.items():
            if others.isdisjoint(kinds) and (content.size is None or not sizes.isdisjoint((None, content.size))):
                return None
        return False if self._sizes else None


def is_weights(path: str) -> bool:
    """Whether a path is that of model weights, rather than an adapter or training state."""
    return _WEIGHTS.fullmatch(path) is not None


def compared(base: BaseLink, files: Mapping[str, Content], weights: WeightSums | None) -> BaseLink:
    """Compares the weight files at the checkpoint's top, or in its folders if there are none, with the base's.

    Args:
        weights: those of the base; None if unknown.
    """
    names = [name for name in files if is_weights(name)]
    ours = [files[name] for name in top_level(names) or names]
    if not ours:
        return base
    matches = [weights.has(content) if weights else None for content in ours]
    same = sum(match is True for match in matches)
    word: Sameness = "identical" if same == len(ours) else "some" if same else "unknown" if None in matches else "other"
    return base._replace(weights=word, same=same, files=len(ours))


def listed(entry: object) -> tuple[BaseLink, ...]:
    """The bases in a repo's Hub entry: by tags, else by card."""
    if not isinstance(entry, Mapping):
        return ()
    return _of("tags", model_card.by_tags(entry.get("tags")), entry) or _of(
        "card", model_card.by_metadata(entry.get("cardData")), entry
    )


def of_pages(pages: Iterable[Document]) -> tuple[BaseLink, ...]:
    """The bases in the listing of a repo."""
    for page in pages:
        with suppress(DocumentError):
            return listed(parse_value(page))
    return ()


def of_folder(request: Request) -> tuple[BaseLink, ...]:
    """The bases that a local checkpoint names: in its card, else in its config."""
    path = place(request)
    if by_card := _of_card(path):
        return by_card
    with suppress(FetchError):
        config = files.read(path / "config.json")
        return _of_config(config)
    return ()


def read(request: Request, opened: "Documents | Place | None", report: "Report") -> tuple[BaseLink, ...]:
    """The bases of an inspected checkpoint whose listing names none, without requests.

    Args:
        opened: the opened documents or place.
    """
    by_card = _of_card(place(request)) if is_local(request) else ()
    if by_card:
        return by_card
    adapter = report.adapter.base if report.adapter else None
    if adapter and model_card.is_repo(adapter):
        return (BaseLink(adapter, "adapter", "adapter"),)
    return _of_config(opened.config) if isinstance(opened, Documents) else ()


def is_local(request: Request) -> bool:
    """Whether a checkpoint is a folder on this machine."""
    return request.fixtures is not None or folder.takes(request)


def place(request: Request) -> Path:
    """The folder of a local checkpoint."""
    inner = request.subfolder or ""
    return (request.fixtures / request.model if request.fixtures else folder.local_path(request.model)) / inner


def _of(source: Source, named: Iterable[NamedBase], entry: Mapping[str, object]) -> tuple[BaseLink, ...]:
    repo = entry.get("id")
    return tuple(BaseLink(base.model, base.relation, source) for base in named if base.model != repo)


def _of_card(path: Path) -> tuple[BaseLink, ...]:
    with suppress(FetchError), files.opened(path / CARD, CARD) as file:
        if file is not None:
            named = model_card.by_text((file.read(FRONT) or b"").decode("utf-8", "replace"))
            return tuple(BaseLink(base.model, base.relation, "card") for base in named)
    return ()


def _of_config(config: Document | None) -> tuple[BaseLink, ...]:
    """The base in `_name_or_path`, from which the model was loaded when it was saved."""
    if config is None or _KEY not in config.raw:
        return ()
    with suppress(DocumentError):
        named = parse_object(config, endless=True).get("_name_or_path")
        if isinstance(named, str) and model_card.is_repo(named):
            return (BaseLink(named, None, "config"),)
    return ()


def _kinds(content: Content) -> frozenset[str]:
    return frozenset(content.sums) - {"place"}
