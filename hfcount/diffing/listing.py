"""Compares checkpoints whose weights have equal checksums; only differing configs are read."""

from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.diffing import configs
from hfcount.diffing.model import Diff
from hfcount.diffing.other_configs import otherwise, sized_otherwise
from hfcount.diffing.other_files import beside
from hfcount.diffing.pieces import FileSums, Relation, Side
from hfcount.errors import DocumentError, FetchError, HfcountError
from hfcount.fetcher import Request
from hfcount.fetcher.base_config import own_config
from hfcount.fetcher.checksums import Contents
from hfcount.fetcher.layout import CONFIG
from hfcount.formats.json import parse_object
from hfcount.mapper import Config
from hfcount.text import plural, printable

Sides = tuple[Request, Request]


def settled(files: FileSums) -> bool:
    """Whether all weight files are equal."""
    return files.of > 0 and files.weights == files.of


def diff(requests: Sides, contents: tuple[Contents, Contents], files: FileSums) -> Diff:
    """Compares two checkpoints with equal weights."""
    values: list[dict[str, Any]] = [{}, {}]
    notes: tuple[str, ...] = ()
    if CONFIG in files.differing or CONFIG in files.unknown:
        try:
            read = [own_config(listed(request, content)) for request, content in zip(requests, contents, strict=True)]
            values = [parse_object(document, endless=True) for document in read]
        except (FetchError, DocumentError) as error:
            notes = (printable(f"The configs were not compared: {error}", None),)
    blueprints = blueprint_of(values[0]), blueprint_of(values[1])
    keys = configs.compare(values[0], values[1], blueprints) if values[0] and values[1] else ()
    sized = sized_otherwise(*blueprints)
    relations = (relation(files), *otherwise(keys, blueprints, True), *beside(files))
    return Diff(
        a=_side(requests[0], contents[0], blueprints[0]),
        b=_side(requests[1], contents[1], blueprints[1]),
        summary="B " + "; ".join(relation.text for relation in relations),
        relations=relations,
        same_structure=None if notes else not sized,
        depth="listing",
        config=keys,
        files=files,
        notes=notes,
    )


def blueprint_of(values: dict[str, Any]) -> Blueprint | None:
    """The blueprint of a config; None if it is empty, or no model can be built of it."""
    try:
        return build(Config(values)) if values else None
    except HfcountError:
        return None


def relation(files: FileSums) -> Relation:
    """The relation of B to A, given equal weights."""
    others = len(files.differing) + len(files.only_a) + len(files.only_b) + len(files.unknown)
    if not others:
        text = f"is the same as A: all {plural(files.identical, 'file')} have the same checksums"
        return Relation(kind="same-files", text=text)
    text = (
        f"has A's weights: {plural(files.weights, 'weight file')} of the same checksum; {plural(others, 'other file')}"
    )
    return Relation(kind="same-values", text=f"{text} not the same")


def _side(request: Request, contents: Contents, blueprint: Blueprint | None) -> Side:
    return Side(
        model=printable(request.path),
        revision=contents.commit,
        source="hub" if contents.commit else "folder",
        family=blueprint.spec.family if blueprint else None,
        architecture=blueprint.spec.architecture or None if blueprint else None,
        parameters=blueprint.total if blueprint else None,
    )


def listed(request: Request, contents: Contents | None) -> Request:
    """The request with its known files, to avoid a second listing."""
    if contents is None or contents.commit is None:
        return request
    sizes = {name: content.size for name, content in contents.files.items()}
    return request.replace(revision=contents.commit, files=sizes)
