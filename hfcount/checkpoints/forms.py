"""Containers: models that are kept in another form than a config with safetensors beside it, one file each.

Each has a row in CONTAINERS, which says how a listing shows it, and a module with

    inspect(place: Place, request: Request, options: Options) -> Inspection
    beside(place: Place, request: Request, model: Inspection) -> Besides

which read what they need of the place, and answer with what they found: of a model that is nothing else, and of files
that lie beside the safetensors of a model.
"""

from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from hfcount.fetcher.interface import top_level
from hfcount.fetcher.layout import ADAPTER, CONFIG, MODULES, PARAMS
from hfcount.fetcher.location import Place

if TYPE_CHECKING:
    from hfcount.checkpoints.inspection import Inspection, Options
    from hfcount.fetcher.interface import Request
    from hfcount.report.figures import WeightsFile
    from hfcount.verifier.finding import Finding


class Besides(NamedTuple):
    """What was found beside a model, a row for each file, and the paths of all files that were looked at."""

    findings: "Sequence[Finding]" = ()
    rows: "tuple[WeightsFile, ...]" = ()
    files: Collection[str] = ()


class Container(NamedTuple):
    """One form.

    Args:
        name: what a report calls it.
        module: of this folder, which inspects it.
        holds: whether a file of this path is of this form.
        beside_weights: whether it goes before safetensors or pickles in the same folder that has a config.
        alone: whether it is told only where no config says what the folder is, or folders below are.
    """

    name: str
    module: str
    holds: Callable[[str], bool]
    beside_weights: bool = False
    alone: bool = False

    def inspect(self, place: Place, request: "Request", options: "Options") -> "Inspection":
        """What was found at a place that holds it; raises FetchError where that cannot be read."""
        found: Inspection = self._module.inspect(place, request, options)
        return found

    def beside(self, place: Place, request: "Request", model: "Inspection") -> Besides:
        """What was found beside a model's safetensors; raises as `inspect` does."""
        found: Besides = self._module.beside(place, request, model)
        return found

    @property
    def _module(self) -> Any:
        return import_module(f"{__package__}.{self.module}")


_CONFIGS = (CONFIG, MODULES, PARAMS, "model_index.json")
_DEEP = 3  # folders that an adapter may be in
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".index.json")


def _is_gguf(name: str) -> bool:
    return name.count("/") <= 1 and ".gguf" in name.lower() and "/." not in f"/{name}"


def _is_adapter(name: str) -> bool:
    return name == ADAPTER


def _is_below(name: str) -> bool:
    return name.endswith(f"/{ADAPTER}") and name.count("/") <= _DEEP and "/." not in f"/{name}"


CONTAINERS = (
    Container("adapter", "adapter.inspect", _is_adapter),
    Container("gguf", "gguf.inspect", _is_gguf),
    Container("adapters", "adapter.subfolders", _is_below, alone=True),
)
"""In order of precedence."""


def container_of(place: Place) -> Container | None:
    """The form of what is at a place, or of the file in it that is named; None where it is none of these."""
    if place.file is not None:
        named = next((one for one in CONTAINERS if one.holds(place.file.rpartition("/")[2])), None)
        return named or next((one for one in CONTAINERS if any(map(one.holds, place.sizes))), None)
    return held_in(place.sizes)


def held_in(names: Collection[str]) -> Container | None:
    """The form of a folder with these files; None for a config with weights beside it, and where it is unknown."""
    stored = [name for name in top_level(names) if name.endswith(_WEIGHTS) and not name.startswith("adapter_")]
    weights = CONFIG in names and stored
    told = any(name.rpartition("/")[2] in _CONFIGS for name in names)
    taken = [one for one in CONTAINERS if (one.beside_weights or not weights) and not (one.alone and told)]
    return next((one for one in taken if any(map(one.holds, names))), None)
