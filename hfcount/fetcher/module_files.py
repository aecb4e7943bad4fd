"""Locates the configs and weights of the modules in a modules.json of sentence-transformers."""

from collections.abc import Callable, Collection, Mapping

from hfcount.errors import DocumentError
from hfcount.fetcher.interface import is_inside
from hfcount.fetcher.layout import CONFIG, MODULES, SINGLE
from hfcount.formats.json import Document
from hfcount.formats.modules_json import KIND, Module, all_modules, read_modules

_LEVELS = 4  # of routers within routers

Read = Callable[[Collection[str]], Mapping[str, Document]]


def configs(known: Mapping[str, Document], files: Collection[str], read: Read) -> dict[str, Document]:
    """The documents with the modules' configs, by path; level by level, since routers name further modules.

    Args:
        known: documents that were read before.
        files: paths of all files there are.
        read: reads documents; one that is not there is left out.
    """
    documents = dict(known)
    for _ in range(_LEVELS if MODULES in known else 0):
        modules = named_modules(documents, files)
        wanted = {*(module.config(files) for module in modules), *(name for module in modules for name in module.inner)}
        wanted = (wanted | {KIND}) - {CONFIG, *documents}
        if not (names := sorted(wanted.intersection(files))):
            break
        documents |= read(names)
        if wanted.isdisjoint(documents):
            break
    return {name: document for name, document in documents.items() if name not in known}


def weight_files(documents: Mapping[str, Document], files: Collection[str]) -> list[str]:
    """The weight files of modules, as far as they are there, but not those of models of transformers."""
    reading = (module for module in named_modules(documents, files) if module.holds_weights)
    return sorted({module.weights(files) for module in reading}.intersection(files))


def most(files: Collection[str]) -> int:
    """How many files of modules a run may ask for at most, by the names of all files."""
    if MODULES not in files:
        return 0
    return sum(name.endswith(("_config.json", "/config.json", "_transformers.json", f"/{SINGLE}")) for name in files)


def named_modules(documents: Mapping[str, Document], files: Collection[str]) -> list[Module]:
    """The modules that are named, those in routers included, but not those whose folder leaves the checkpoint."""
    if MODULES not in documents:
        return []
    try:
        listed = read_modules(documents[MODULES])
    except DocumentError:  # a finding says it
        return []
    return [module for module in all_modules(listed, documents, files) if not module.folder or is_inside(module.folder)]
