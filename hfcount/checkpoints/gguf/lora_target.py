"""What a LoRA in GGUF is for: a GGUF model that was named, or the model of a config."""

from collections.abc import Mapping
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.gguf.base import MOST
from hfcount.checkpoints.gguf.files import FileSet, file_sets, headers
from hfcount.checkpoints.gguf.loaded import newest
from hfcount.checkpoints.gguf.lora import TABLE, LoraTarget
from hfcount.checkpoints.gguf.names import expected
from hfcount.checkpoints.gguf.split_set import join
from hfcount.checkpoints.gguf.summary import HALVES, Remark, role
from hfcount.checkpoints.gguf.table import table
from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher.base_config import base_place
from hfcount.fetcher.interface import Request
from hfcount.fetcher.location import Place
from hfcount.formats.gguf.header import GgufHeader
from hfcount.text import printable
from hfcount.verifier.loaders import recorded
from hfcount.verifier.loaders.llama_cpp.gguf import LIBRARY


def named_model(request: Request) -> GgufHeader:
    """The header of the GGUF model that --base names; of several variants the first.

    Raises:
        FetchError: it is none, or cannot be read.
    """
    place = base_place(request.base or "", request)
    try:
        return _model_of(place)
    finally:
        place.reader.close()


def _model_of(place: Place) -> GgufHeader:
    for group in file_sets(place):
        header = _read(place, group)
        if role(header) == "model":
            return header
    raise FetchError("NoConfig", f"{printable(place.label)} holds no GGUF model.")


def _read(place: Place, group: FileSet) -> GgufHeader:
    parts: dict[str, GgufHeader] = {}
    for name, header in headers(place, [group], lambda: None).items():
        if isinstance(header, DocumentError):
            raise FetchError("UnreadableFile", str(header).rstrip("."))
        parts[name] = header
    if len(group.files) == 1 and not group.lost:
        return parts[group.name]
    header, remarks = join(parts)
    if remarks:
        raise FetchError("UnreadableFile", f"the files of {printable(group.name)} do not make one model")
    return header


def of_file(header: GgufHeader) -> "LoraTarget | str":
    """What an adapter may adapt of a GGUF model; why it may nothing, as a sentence part, if llama.cpp refuses that."""
    shapes = {name: tensor.shape for name, tensor in header.tensors.items()}
    loaded = newest(header)
    if loaded is not None and loaded.loads is False:
        return f"llama.cpp {printable(loaded.says, None)}"
    ties: bool | None = None if "output.weight" not in shapes else False
    if loaded is not None and loaded.loads:
        shapes = {name: shape for name, shape in shapes.items() if name in loaded.taken}
        ties = TABLE in loaded.shared
    return LoraTarget(header.text("general.architecture"), shapes, ties=ties)


def of_config(blueprint: Blueprint, values: Mapping[str, Any], adapter: GgufHeader) -> "LoraTarget | Remark":
    """What an adapter may adapt of the model of a config; a remark where its names are not known."""
    from hfcount.verifier.loaders.llama_cpp.converter.folder import file_of  # few GGUF files are adapters

    name = adapter.text("general.architecture")
    if blueprint.tensor_count > MOST:
        return Remark("too-many", "unverified", {"observed": blueprint.tensor_count, "most": MOST})
    file = file_of(recorded.versions(LIBRARY)[-1], values, blueprint)
    architecture = file.architecture if file else _listed(values, name)
    if architecture not in (None, name):
        return LoraTarget(architecture, {})
    if architecture is None or name not in table().layers:
        return Remark("architecture-unknown", "unverified", {"architecture": name})
    bases = {tensor.rpartition(".")[0] for tensor in adapter.tensors if tensor.endswith(HALVES)}
    wanted = expected(blueprint, name, int(blueprint.spec.depth), bases)
    ties = None if file is None or file.shared is None else TABLE in file.shared
    if ties is None and "output.weight" in wanted.shapes:
        ties = False
    known = {**wanted.optional, **wanted.shapes}
    if ties:  # a head of its own that the config does without
        known.pop("output.weight", None)
    return LoraTarget(architecture, known, wanted.unmapped, ties)


def _listed(values: Mapping[str, Any], name: str) -> str | None:
    """The architecture that models of this type are listed with, the given one if it is among them; None if none is."""
    nested = values.get("text_config")
    types = {values.get("model_type"), nested.get("model_type") if isinstance(nested, Mapping) else None}
    listed = [known for known, layers in table().layers.items() if layers.model_types & types]
    return name if name in listed else listed[0] if listed else None
