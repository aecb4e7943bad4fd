"""Texts for checkpoints without a config, or without weights to compare it with."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from hfcount.errors import DocumentError
from hfcount.fetcher.interface import Documents, label
from hfcount.fetcher.layout import ADAPTER, CONFIG, INDEX, OPEN_CLIP_LAYOUT, SINGLE
from hfcount.fetcher.unread_files import PICKLES, TRAINING, kind, module_folders
from hfcount.fetcher.weights import Weights
from hfcount.formats.json import Document, parse_object
from hfcount.text import plural, printable


def without_config(files: Collection[str], adapter: Document | None = None, folder: Path | None = None) -> str:
    """What a folder with these files has in place of a config.json, as the end of a sentence; empty if unknown.

    Args:
        files: paths of the files that are known, those of folders below included.
        adapter: the adapter's own config, where there is one.
        folder: where they are, if they are on disk.
    """
    if adapter is not None:
        return f", only an adapter ({ADAPTER}) of {_base(adapter)}. Verify that model"
    from hfcount.fetcher.suggestions import without_config as instead

    return instead(files, folder)


def _base(adapter: Document) -> str:
    try:
        name = parse_object(adapter).get("base_model_name_or_path")
    except DocumentError:
        name = None
    return printable(name) if isinstance(name, str) and name else "an unnamed base model"


def config_alone(documents: Documents) -> str:
    """Why a config that is given by its own file cannot be compared."""
    return f"{printable(documents.model)} is only a config: there is nothing to compare. Name the folder that it is in."


def pickled(documents: Documents, weights: Weights) -> str:
    """Why pickled weights of which no file was read are not compared, or by their index alone."""
    where, by = label(documents.model, documents.revision), "nothing of them was read"
    if weights.index is not None:
        by = "names, sums and files were compared with their index, but the files were not read"
    return (
        f"the weights of {where} are pickled ({named(sorted(weights.named))}): {by}. --depth headers reads their"
        " directories, without running any code."
    )


def misnamed(documents: Documents, weights: Weights, held: str) -> str:
    """Why pickled weights of names that the library does not look for cannot be verified; `held` is what they hold."""
    where = label(documents.model, documents.revision)
    return (
        f"{where} has neither {documents.layout.single} nor {documents.layout.pickled}, only"
        f" {named(sorted(weights.named))}, which {documents.layout.reader} does not look for: {held}."
    )


def nothing_to_compare(documents: Documents, weights: Weights) -> str:
    """Why there is nothing to compare the config with, where there is no index and no header was read."""
    return " ".join(filter(None, (_not_there(documents, weights), weights.unfinished)))


def _not_there(documents: Documents, weights: Weights) -> str:
    files, where, layout = documents.files, label(documents.model, documents.revision), documents.layout
    if there := [name for name in weights.there if name in (weights.sizes or ())]:
        return (
            f"{where} has no {layout.listing}, and the headers of {named(there)} were not read, so there is nothing to"
            " compare its config with. --depth headers reads them."
        )
    if documents.source == "cache" and not weights.whole:
        return f"neither {layout.listing} nor {layout.single} of {where} is in the cache. Run once without --offline."
    text = f"{where} has neither {layout.listing} nor {layout.single}"
    if layout is OPEN_CLIP_LAYOUT:  # which takes one file
        text = f"{where} has neither {layout.single} nor {layout.pickled}"
    steps = module_folders(documents.companions)  # which are no models
    if elsewhere := _elsewhere({name for name in _within(documents) if name.partition("/")[0] not in steps}):
        return f"{text}, {elsewhere}."
    if any(kind(name) == PICKLES for name in files):
        return f"{text}, only pickled weights (.bin), which were not read."
    return f"{text}{_other_weights(files, weights)}"


def _other_weights(files: Collection[str], weights: Weights) -> str:
    """The files that hold weights and are not compared, as the end of a sentence."""
    if weights.apart:
        name, why = next(iter(weights.apart.items()))
        base = ": verify the base model it names" if why == "an adapter" else ""
        return f", only {printable(name)}, which is {why}{base}."
    if any(name.endswith(".gguf") for name in files):
        return ", only GGUF files."
    known = sorted(name for name in {*files, *weights.files} if not name.endswith(".safetensors"))
    others = {name: file_kind for name in known if (file_kind := kind(name)) not in (None, TRAINING)}
    if name := next(iter(others), ""):
        from hfcount.fetcher.other_formats import unread

        return f", only {others[name]} ({printable(name, 100)}), {unread(others[name], name)}. {_COUNTS}"
    return f": nothing to compare its config with. {_COUNTS}"


_COUNTS = "--depth config counts what it describes."
_APART = {
    (
        "zero_to_fp32.py",
        "_model_states.pt",
    ): "only DeepSpeed's own checkpoint ({}): `python zero_to_fp32.py . .` gathers it",
    (".distcp",): "only a distributed checkpoint of PyTorch ({}): `accelerate merge-weights` gathers it",
}
"""How the names of files end that hold weights in parts, what they are, and what puts them together."""

_FOLDERS = 100  # that are looked into


def _elsewhere(files: Collection[str]) -> str:
    """Where the weights are instead, as the end of a sentence; empty if that is unknown."""
    for ends, template in _APART.items():
        if name := next((file for file in sorted(files) if file.endswith(ends)), None):
            return template.format(printable(name, 100))
    folders = {name.rpartition("/")[0] for name in files if name.endswith((f"/{SINGLE}", f"/{INDEX}"))}
    if models := sorted(folder for folder in folders if f"{folder}/{CONFIG}" in files):
        return f"but {printable(models[-1], 100)} has: name that folder, or --subfolder"
    return ""


def _within(documents: Documents) -> set[str]:
    """All files that are known, and of a local folder those of the folders in it."""
    paths = {*(documents.sizes or documents.files)}
    if documents.source == "folder":
        with suppress(OSError):
            for folder in [child for child in sorted(Path(documents.model).iterdir()) if child.is_dir()][:_FOLDERS]:
                paths |= {f"{folder.name}/{entry.name}" for entry in islice(folder.iterdir(), _FOLDERS)}
    return paths


def not_read(documents: Documents, weights: Weights, unread: Sequence[str]) -> str:
    """Why the headers of files of the model could not be read."""
    where = label(documents.model, documents.revision)
    many = f"{len(unread):,} of the {plural(len(weights.named), 'weight file')}"
    if documents.source == "cache":
        text = (
            f"{many} of {where} are not in the cache ({named(unread)}), so they could not be checked. Run once"
            " without --offline (and without HF_HUB_OFFLINE)."
        )
        return " ".join(filter(None, (text, weights.unfinished)))
    if documents.source == "hub":
        return f"{many} of {where} are listed but cannot be found ({named(unread)}). Try again."
    if not documents.shards.names and not weights.sizes:
        return f"{where} has no safetensors files beside its index, so there are no headers to read."
    return f"the headers of {many} of {where} are not recorded ({named(unread)}). Record them with --depth headers."


def named(files: Sequence[str], count: int | None = None) -> str:
    """The first names of a list, and how many more there are; `count` if the list has not all."""
    many = len(files) if count is None else count
    more = f" and {many - 3:,} more" if many > 3 else ""
    return ", ".join(printable(name, 100) for name in files[:3]) + more
