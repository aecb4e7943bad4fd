"""Checks the classes of a pipeline's parts against diffusers and transformers (loadable.json)."""

import json
import re
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files

from hfcount.checkpoints.pipeline.signatures import version
from hfcount.formats.model_index import Entry, PipelineIndex
from hfcount.mapper import classes
from hfcount.text import printable
from hfcount.verifier.rules.hf821_unknown_part_class import UnknownPartClass

_ABSTRACT = re.compile(r"\w*PreTrainedModel|\w+Pipeline")  # which the record leaves out
_OTHERS = ("onnxruntime.training",)  # libraries whose classes are not recorded


@cache
def _recorded() -> dict[str, frozenset[str]]:
    """The names of classes by library; a folder of pipelines of diffusers is one too."""
    values = json.loads(files(__package__).joinpath("loadable.json").read_bytes())
    return {library: frozenset(names.split()) for library, names in values.items()}


def unloadable(index: PipelineIndex, entry: Entry, names: Collection[str], repo: bool) -> UnknownPartClass | None:
    """HF821: the class of a part is none that diffusers loads.

    Args:
        names: of the files in the part's folder; repo: whether they would be downloaded.
    """
    if is_code(entry, names):
        return None
    lacks = _lacks(entry, repo)
    if lacks is None:
        return None
    later = _numbers(index.version) > _numbers(version())
    return UnknownPartClass(
        severity="note" if later else "error",
        part=entry.name,
        by=entry.by,
        lacks=lacks,
        key=entry.name,
        file="model_index.json",
    )


def is_code(entry: Entry, names: Collection[str]) -> bool:
    """Whether the class of a part is in a file of its folder."""
    return f"{entry.library}.py" in names


def is_part_class(kind: str) -> bool:
    """Whether diffusers has a class of that name, which is no pipeline."""
    return kind in _recorded()["diffusers"]


def _lacks(entry: Entry, repo: bool) -> str | None:
    """The missing library or class, in words; None if none is known to be missing."""
    library, kind, known = entry.library, entry.kind, _recorded()
    if library in _OTHERS or _ABSTRACT.fullmatch(kind):
        return None
    if library not in known:
        if library.startswith(("diffusers.", "transformers.")) and not repo:
            return None  # a module that the library itself has imported
        return f"diffusers {version()} does not load parts of this library{_elsewhere(kind)}"
    if {kind, kind.removesuffix("Fast")} & known[library] or (library == "transformers" and _is_model(kind)):
        return None
    return f"{printable(library, 60)} has no such class{_elsewhere(kind) or _alike(library, kind)}"


def _is_model(kind: str) -> bool:
    """Whether transformers has a model of this class, in this very spelling."""
    known = classes.known(kind)
    return known is not None and known.name == kind


def other_type(entry: Entry, config: Mapping[str, object]) -> str | None:
    """The model_type that a class of transformers reads a config as, where the config names another or none."""
    known = classes.known(entry.kind) if entry.library == "transformers" else None
    return known.types[0] if known and config and config.get("model_type") not in known.types else None


def _elsewhere(kind: str) -> str:
    """The library that has the class."""
    if kind in _recorded()["diffusers"]:
        return ", and diffusers has it"
    return ", and transformers has it" if kind in _recorded()["transformers"] or _is_model(kind) else ""


def _alike(library: str, kind: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(kind[:100], sorted(_recorded()[library]), 1, 0.8)
    return f" (did you mean {near[0]}?)" if near else ""


def _numbers(text: str) -> list[int]:
    """The numbers of a version."""
    return [int(number) for number in re.findall(r"\d{1,9}", text)[:3]]
