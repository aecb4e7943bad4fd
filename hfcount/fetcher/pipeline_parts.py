"""Reads the parts of a pipeline: the files of each folder, and the documents of those with weights."""

import os
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from hfcount.errors import FetchError
from hfcount.fetcher import opened
from hfcount.fetcher.companions import companions
from hfcount.fetcher.folder import local_path
from hfcount.fetcher.interface import TOKENS, Documents, Request, top_level
from hfcount.fetcher.layout import MODEL_INDEX, MODULES, layout_of, others_of
from hfcount.fetcher.location import Place
from hfcount.formats.json import Document

PartResult = Documents | Place | FetchError
"""The result of reading a part: its documents, a folder without a config, or the error."""

_AT_ONCE = 4  # parts that are read from the Hub


def folder_files(request: Request, documents: Documents, part: str) -> list[str] | None:
    """The names of what is in the folder of a part, of folders with a slash; None where there is no such folder."""
    if documents.source == "folder":
        with suppress(OSError), os.scandir(local_path(request.path) / part) as entries:
            return sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries)
        return None
    prefix = f"{part}/"
    names = documents.files if documents.sizes is None else documents.sizes
    inner = (name[len(prefix) :].partition("/") for name in names if name.startswith(prefix))
    return sorted({name + slash for name, slash, _ in inner}) or None


def root_files(documents: Documents) -> list[str]:
    """The names of the files in the pipeline's own folder."""
    names = documents.files if documents.sizes is None else documents.sizes
    return [name for name in top_level(names) if name != MODEL_INDEX]


def at_root(documents: Documents) -> Documents | None:
    """The model in a pipeline's own folder, as one by itself; None where that has no config.

    Raises:
        FetchError: a document could not be read.
    """
    names = root_files(documents)
    layout, place = layout_of(names), documents.place
    listed = dict.fromkeys(names) if documents.sizes is None else documents.sizes
    wanted = {layout.config, layout.listing, *companions(dict.fromkeys(names))}.intersection(names) - {MODULES, *TOKENS}
    read = {name: document for name in wanted if (document := documents.companions.get(name) or _document(place, name))}
    if layout.config not in read:
        return None
    return documents.replace(
        config=read[layout.config],
        index=read.get(layout.listing),
        files=names,
        sizes=None if documents.sizes is None else {name: listed[name] for name in names},
        companions=others_of(read, layout),
        layout=layout,
    )


def _document(place: Place | None, name: str) -> Document | None:
    return None if place is None else place.reader.document(name)


def most(files: Collection[str]) -> int:
    """How many files of parts a run may ask for at most, by the names of all files."""
    if MODEL_INDEX not in files:
        return 0
    inner = [name for name in files if name.count("/") == 1]
    return 1 + sum(
        name.endswith(("/config.json", ".index.json", ".safetensors", "/pytorch_model.bin")) for name in inner
    )


def open_parts(request: Request, documents: Documents, names: Collection[str]) -> dict[str, tuple[Request, PartResult]]:
    """The parts of those names: the request for each, and what there is; of a repo several are read at once."""
    requests = {name: _request(request, documents, name) for name in names}
    if documents.source != "hub":
        return {name: (part, _tried(partial(opened, part))) for name, part in requests.items()}
    from hfcount.fetcher import hub
    from hfcount.fetcher.hub import files as hub_files

    assert documents.place is not None
    reader = documents.place.reader
    assert isinstance(reader, hub_files.HubFiles)
    with ThreadPoolExecutor(1 if request.meter else _AT_ONCE) as pool:
        tried = {name: partial(_tried, partial(hub.read_part, part, reader.client)) for name, part in requests.items()}
        asked = {name: pool.submit(task) for name, task in tried.items()}
        return {name: (requests[name], future.result()) for name, future in asked.items()}


def _tried(read: Callable[[], Documents | Place]) -> PartResult:
    try:
        return read()
    except FetchError as error:
        return error


def _request(request: Request, documents: Documents, part: str) -> Request:
    """What is asked for a part: at the commit of the pipeline, whose listing has its files."""
    folder = f"{request.subfolder}/{part}" if request.subfolder else part
    if documents.source != "hub":
        return request.replace(subfolder=folder)
    files = _below(documents.sizes or {}, f"{part}/")
    return request.replace(subfolder=folder, revision=documents.revision, files=files)


def _below(sizes: Mapping[str, int | None], prefix: str) -> dict[str, int | None]:
    return {name[len(prefix) :]: size for name, size in sizes.items() if name.startswith(prefix)}
