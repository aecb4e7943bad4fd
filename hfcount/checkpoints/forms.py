"""Chooses the form of a checkpoint, which is a folder of this room that inspects it.

Each form is a folder whose inspect.py has `inspect` and `beside`: of a checkpoint that has this form, and of files that
lie next to a model's safetensors. Their arguments depend on where the description of the tensors is:

    adapter, gguf: in the files themselves
        inspect(place: Place, request: Request, options: Options) -> Inspection
        beside(place: Place, request: Request, model: Inspection) -> Besides
    safetensors, pickle: in the config of a model
        inspect(model: Model, options: Options) -> tuple[Evidence, Outcome]
        beside(model: Model, evidence: Evidence, outcome: Outcome, options: Options) -> Evidence
    pipeline, sentence_transformers: in the configs of several models
        inspect(documents: Documents, ...), by which each model is inspected; they lie next to no model
"""

from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from hfcount.errors import FetchError
from hfcount.fetcher.interface import Documents, top_level
from hfcount.fetcher.layout import (
    ADAPTER,
    BIN_INDEX,
    CONFIG,
    MODULES,
    MODULES_LAYOUT,
    OPEN_CLIP,
    PARAMS,
    PIPELINE_LAYOUT,
    is_loose,
)
from hfcount.fetcher.location import Place
from hfcount.fetcher.weights import PICKLED, pickled_weights, set_apart
from hfcount.text import printable

if TYPE_CHECKING:
    from hfcount.checkpoints.inspection import Evidence, Inspection, Model, Options
    from hfcount.fetcher.interface import Request
    from hfcount.report.figures import WeightsFile
    from hfcount.report.model import Report
    from hfcount.verifier.finding import Finding
    from hfcount.verifier.findings import Outcome


class Besides(NamedTuple):
    """Findings about files next to a model, a row for each file, and the paths of all files that were read."""

    findings: "Sequence[Finding]" = ()
    rows: "tuple[WeightsFile, ...]" = ()
    files: Collection[str] = ()


class Form(NamedTuple):
    """A form of a checkpoint with a config: `module` inspects its documents."""

    module: str

    def inspect(self, documents: Documents | Place, request: "Request", options: "Options") -> "Inspection | Report":
        """Inspects documents that were opened, and closes them; raises as `checkpoints.inspect` does."""
        result: Inspection | Report = import_module(self.module).inspect(documents, request, options)
        return result


class Container(NamedTuple):
    """A form whose files describe themselves.

    Args:
        name: what a report calls it.
        module: inspects it.
        holds: whether a file of this path is of this form.
        beside_weights: whether it goes before safetensors or pickles in the same folder that has a config.
        alone: whether it is chosen only where no config says what the folder, or a folder below, is.
    """

    name: str
    module: str
    holds: Callable[[str], bool]
    beside_weights: bool = False
    alone: bool = False

    def inspect(self, documents: Documents | Place, request: "Request", options: "Options") -> "Inspection":
        """Inspects the place of what was opened, and closes it; raises FetchError where it cannot be read."""
        place, close = _place(documents)
        try:
            if options.save is not None and place is not None:
                text = f"--save records models with a config.json, but {printable(place.label)} has none."
                raise FetchError("NotSaved", text)
            result: Inspection = import_module(self.module).inspect(place, request, options)
            return result
        finally:
            close()

    def beside(self, place: Place, request: "Request", model: "Inspection") -> Besides:
        """Inspects files next to a model's safetensors; raises as `inspect` does."""
        result: Besides = import_module(self.module).beside(place, request, model)
        return result


class WeightsForm(NamedTuple):
    """A form of weights that a config describes; `module` compares them with the blueprint."""

    module: str

    def inspect(self, model: "Model", options: "Options") -> "tuple[Evidence, Outcome]":
        """Compares a model with its weights; raises DocumentError where the index cannot be read."""
        result: tuple[Evidence, Outcome] = import_module(self.module).inspect(model, options)
        return result

    def beside(self, model: "Model", evidence: "Evidence", outcome: "Outcome", options: "Options") -> "Evidence":
        """Adds findings about files of this form next to the safetensors, and says which of them were read."""
        result: Evidence = import_module(self.module).beside(model, evidence, outcome, options)
        return result


_CONFIGS = (CONFIG, MODULES, PARAMS, "model_index.json")
_DEEP = 3  # folders that an adapter may be in
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".index.json")


def _is_gguf(name: str) -> bool:
    return name.count("/") <= 1 and ".gguf" in name.lower() and "/." not in f"/{name}"


def _is_adapter(name: str) -> bool:
    return name == ADAPTER


def _is_below(name: str) -> bool:
    return name.endswith(f"/{ADAPTER}") and name.count("/") <= _DEEP and "/." not in f"/{name}"


def _others_below(names: Collection[str]) -> bool:
    """Whether folders below hold checkpoints that are no GGUF files, of which a verdict on these says nothing."""
    from hfcount.fetcher.find_checkpoints import checkpoints_among  # few have files in folders below alone

    return bool(checkpoints_among(name for name in names if "/" in name and not _is_gguf(name)))


CONTAINERS = (
    Container("adapter", f"{__package__}.adapter.inspect", _is_adapter),
    Container("gguf", f"{__package__}.gguf.inspect", _is_gguf),
    Container("adapters", f"{__package__}.adapter.subfolders", _is_below, alone=True),
    Container("lora", f"{__package__}.adapter.diffusion.inspect", is_loose, alone=True),
)
"""In order of precedence."""

PIPELINE = Form(f"{__package__}.pipeline.inspect")
MODEL = Form(f"{__package__}.examine")
SAFETENSORS = WeightsForm(f"{__package__}.safetensors.inspect")
PICKLE = WeightsForm(f"{__package__}.pickle.inspect")


def form_of(documents: Documents | Place, request: "Request", options: "Options") -> Form | Container:
    """The form of what was opened.

    Raises:
        FetchError: it has no config, and no file of a known form.
    """
    if isinstance(documents, Documents) and documents.layout is PIPELINE_LAYOUT:
        return PIPELINE
    if isinstance(documents, Place) or is_contained(documents, request, options):
        return container(documents, request)
    return MODEL


def is_contained(documents: Documents, request: "Request", options: "Options") -> bool:
    """Whether documents with a config are of a container all the same; --save records a config with its files."""
    if options.save is not None or documents.place is None or documents.layout is MODULES_LAYOUT:
        return False
    if request.base is None:
        return container_of(documents.place) is not None
    from hfcount.blueprints.libraries import names_another  # --base is rarely given

    return not names_another(documents)


def has_base(documents: Documents | Place, request: "Request", options: "Options") -> bool:
    """Whether what was opened is of a form that a base is read for."""
    if isinstance(documents, Place):
        return container_of(documents) is not None
    if documents.layout is PIPELINE_LAYOUT:
        return False
    from hfcount.blueprints.libraries import names_another  # a base is rarely given

    return is_contained(documents, request.replace(base=None), options) or names_another(documents)


def container(documents: Documents | Place, request: "Request") -> Container:
    """The container of what was opened; raises FetchError if there is none, and then closes it."""
    place, close = _place(documents)
    form = container_of(place) if place else None
    if form is not None:
        return form
    close()
    if request.base is None and place is not None:
        raise place.refusal()
    raise FetchError(
        "BadName",
        "--base goes with an adapter, a GGUF file, or a config of open_clip or LeRobot that names another model;"
        f" {printable(request.model)} is none of these.",
    )


def _place(documents: Documents | Place) -> tuple[Place | None, Callable[[], None]]:
    """The place of what was opened, and what closes it."""
    if isinstance(documents, Place):
        return documents, documents.reader.close
    return documents.place, documents.shards.close


def container_of(place: Place) -> Container | None:
    """The container at a place, or of the file in it that is named; None if there is none."""
    if place.file is not None:
        named = next((form for form in CONTAINERS if form.holds(place.file.rpartition("/")[2])), None)
        return named or next((form for form in CONTAINERS if any(map(form.holds, place.sizes))), None)
    return held_in(place.sizes)


def held_in(names: Collection[str]) -> Container | None:
    """The container of a folder with these files; None for a config with weights beside it, and if it is unknown."""
    stored = [
        name for name in top_level(names) if name.endswith(_WEIGHTS) and not name.startswith(("adapter_", "adapters."))
    ]
    weights = CONFIG in names and stored
    described = any(name.rpartition("/")[2] in _CONFIGS for name in names)
    forms = [form for form in CONTAINERS if (form.beside_weights or not weights) and not (form.alone and described)]
    form = next((form for form in forms if any(map(form.holds, names))), None)
    if form and not any(map(form.holds, top_level(names))) and not form.alone and _others_below(names):
        return None
    return form


def weights_form(documents: Documents) -> WeightsForm:
    """The form of the weights of a model: pickles, if it has these and neither an index nor files of safetensors."""
    names = documents.shards.names
    if documents.index is not None or names is None:
        return SAFETENSORS
    if any(set_apart(name, documents.layout) is None for name in names):
        return SAFETENSORS
    return PICKLE if BIN_INDEX in documents.companions or pickled_weights(documents, None).named else SAFETENSORS


def holds_pickles(documents: Documents) -> bool:
    """Whether a model has pickled files, as the only ones or next to others."""
    return any(name.endswith(PICKLED) for name in documents.files)


def has_other_config(documents: Documents) -> bool:
    """Whether a model has the config of another library, too."""
    return not documents.companions.keys().isdisjoint((PARAMS, OPEN_CLIP))
