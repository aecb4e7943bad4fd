"""Containers: models that are kept in another form than a config with safetensors beside it, one file each.

Each has a row in CONTAINERS, which says how a listing shows it, and a module with

    inspect(place: Place, request: Request, options: Options) -> Inspection

which reads what it needs of the place, and answers with what it found.
"""

from collections.abc import Callable, Collection
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

from hfcount.fetcher.interface import ADAPTER, CONFIG, top_level
from hfcount.fetcher.place import Place

if TYPE_CHECKING:
    from hfcount.fetcher.interface import Request
    from hfcount.inspection import Inspection, Options


class Container(NamedTuple):
    """One form.

    Args:
        name: what a report calls it.
        module: of this folder, which inspects it.
        held: whether files of these paths are in this form, and nothing goes before it.
    """

    name: str
    module: str
    held: Callable[[Collection[str]], bool]

    def inspect(self, place: Place, request: "Request", options: "Options") -> "Inspection":
        """What was found at a place that holds it; raises FetchError where that cannot be read."""
        module = import_module(f"{__name__}.{self.module}")
        return cast("Inspection", module.inspect(place, request, options))


_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".index.json")


def _is_gguf(names: Collection[str]) -> bool:
    others = CONFIG in names and any(name.endswith(_WEIGHTS) for name in top_level(names))
    return not others and any(".gguf" in name.lower() for name in names)


def _is_adapter(names: Collection[str]) -> bool:
    weights = [name for name in top_level(names) if name.endswith(_WEIGHTS)]
    return ADAPTER in names and not any(name for name in weights if not name.startswith("adapter_"))


CONTAINERS = (Container("adapter", "adapter_look", _is_adapter), Container("gguf", "gguf_look", _is_gguf))
"""In order of precedence."""


def container_of(place: Place) -> Container | None:
    """The form of what is at a place; None where it is none of these."""
    names = [place.file] if place.file and place.file in place.sizes else place.sizes
    return next((container for container in CONTAINERS if container.held(names)), None)
