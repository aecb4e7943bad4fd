"""Models in containers of their own: those that are nothing else, and those that lie beside safetensors."""

from dataclasses import replace

from hfcount.blueprints.libraries import names_another
from hfcount.checkpoints.forms import CONTAINERS, container_of
from hfcount.checkpoints.inspection import Inspection, Options
from hfcount.errors import FetchError
from hfcount.fetcher.interface import Documents, Request
from hfcount.fetcher.layout import MODULES_LAYOUT
from hfcount.fetcher.location import Place
from hfcount.text import printable


def is_contained(documents: Documents, request: Request, options: Options) -> bool:
    """Whether what has a config is a container all the same; what is to be recorded is a config with its files."""
    if options.save is not None or documents.place is None or documents.layout is MODULES_LAYOUT:
        return False
    if request.base is not None and names_another(documents):
        return False
    return request.base is not None or container_of(documents.place) is not None


def contained(found: Documents | Place, request: Request, options: Options) -> Inspection:
    """A model in a container of its own, inspected.

    Raises:
        FetchError: what it holds could not be read, or it holds nothing that is known.
    """
    place, close = (found, found.reader.close) if isinstance(found, Place) else (found.place, found.shards.close)
    container = container_of(place) if place else None
    try:
        if place is None or container is None:
            raise _refusal(place, request)
        if options.save is not None:
            raise FetchError(
                "NotSaved", f"--save records models with a config.json, and {printable(place.label)} has none."
            )
        return container.inspect(place, request, options)
    finally:
        close()


def _refusal(place: Place | None, request: Request) -> FetchError:
    if request.base is None and place is not None:
        return place.refusal()
    return FetchError(
        "BadName",
        "--base names what an adapter or a GGUF file was made of, or the model that a config of open_clip or LeRobot"
        f" names; {printable(request.model)} is none of these.",
    )


def look_beside(place: Place | None, request: Request, inspection: Inspection) -> Inspection:
    """The same with what lies beside it in containers: in a local folder, and where all headers are asked for."""
    options, evidence = inspection.options, inspection.evidence
    if place is None or options.save is not None or evidence.depth != "headers":
        return inspection
    if not place.local and options.depth != "headers":
        return inspection
    for container in CONTAINERS:
        if container.alone or not any(map(container.holds, place.sizes)):
            continue
        try:
            findings, rows, files = container.beside(place, request, inspection)
        except FetchError:  # then it is said that they were not looked at
            continue
        inspection.outcome.findings += findings
        evidence = replace(evidence, variants=(*evidence.variants, *rows), beside={*evidence.beside, *files})
    inspection.outcome.errors_first()
    return inspection._replace(evidence=evidence)
