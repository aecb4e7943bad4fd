"""The parts of a pipeline that a LoRA adapts, by the configs of the pipeline that --base names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hfcount.blueprints.build import build
from hfcount.checkpoints.adapter.modules import ModuleSet, modules
from hfcount.errors import FetchError, HfcountError
from hfcount.fetcher import opened
from hfcount.fetcher.interface import Documents, Request
from hfcount.fetcher.layout import PIPELINE_LAYOUT
from hfcount.fetcher.pipeline_parts import open_parts
from hfcount.formats.json import parse_object
from hfcount.formats.model_index import Entry, read_pipeline
from hfcount.mapper import Config
from hfcount.text import printable

_MANY = 200_000  # modules of a part
_ADAPTED = ("unet", "transformer", "transformer_2", "text_encoder", "text_encoder_2", "text_encoder_3", "prior")


@dataclass(frozen=True, slots=True)
class AdaptedPart:
    """A part of a pipeline: its modules by their paths, and its parameters in elements."""

    name: str
    modules: Mapping[str, ModuleSet]
    parameters: int
    layers_per_block: int


@dataclass(frozen=True, slots=True)
class BasePipeline:
    """The pipeline that a LoRA is for.

    Args:
        label: what messages call it.
        kind: its class; empty for a part alone.
        parts: those that are described, by name.
        unknown: why others are not, by name.
    """

    label: str
    kind: str
    parts: Mapping[str, AdaptedPart]
    unknown: Mapping[str, str]

    @property
    def denoiser(self) -> str:
        """The name of the U-Net or transformer; empty if it has neither."""
        known = {*self.parts, *self.unknown}
        return next((name for name in ("unet", "transformer", "prior") if name in known), "")


def base_pipeline(named: str, request: Request) -> BasePipeline:
    """The pipeline that --base names, or a part of one.

    Raises:
        FetchError: it could not be read, or is neither.
        DocumentError: its model_index.json is malformed.
    """
    asked = request.replace(
        model=named, revision=None, subfolder=None, files=None, headers=None, file=None, base=None, target=None
    )
    documents = opened(asked)
    if not isinstance(documents, Documents):
        documents.reader.close()
        raise FetchError("NoConfig", f"{printable(named)} is neither a diffusers pipeline nor a part of one.")
    try:
        if documents.layout is not PIPELINE_LAYOUT:
            return _alone(documents, printable(named))
        index = read_pipeline(documents.config)
        entries = {entry.name: entry for entry in index.parts if entry.name in _ADAPTED}
        read = open_parts(asked, documents, list(entries))
        parts, unknown = {}, {}
        for name, (_, result) in read.items():
            try:
                if not isinstance(result, Documents):
                    raise result if isinstance(result, FetchError) else result.refusal()
                parts[name] = _part(name, parse_object(result.config, endless=True), entries[name])
                result.shards.close()
            except (HfcountError, ValueError) as error:
                unknown[name] = str(error)
        return BasePipeline(printable(named), index.kind, parts, unknown)
    finally:
        documents.shards.close()


def _alone(documents: Documents, label: str) -> BasePipeline:
    """A U-Net or a transformer by itself."""
    values = parse_object(documents.config, endless=True)
    kind = str(values.get("_class_name", ""))
    if "_class_name" not in values:
        raise FetchError("NoConfig", f"{label} is neither a diffusers pipeline nor a part of one.")
    name = "unet" if kind.startswith("UNet") else "transformer"
    return BasePipeline(label, "", {name: _part(name, values, None)}, {})


def _part(name: str, values: Mapping[str, Any], entry: Entry | None) -> AdaptedPart:
    named: dict[str, Any] = {}
    if entry is not None:
        named = {"_class_name": entry.kind} if entry.library == "diffusers" else {"architectures": [entry.kind]}
    blueprint = build(Config({**values, **named}, where=f"{name}/config.json"))
    if blueprint.custom_code:
        raise blueprint.custom_code
    known = dict(_paths(modules(blueprint.spellings, "memory", blueprint.leaves)))
    layers = values.get("layers_per_block")
    return AdaptedPart(name, known, blueprint.total, layers if type(layers) is int else 0)


def _paths(known: list[ModuleSet]) -> Iterator[tuple[str, ModuleSet]]:
    if sum(module.count for module in known) > _MANY:
        raise FetchError("UnreadableFile", f"it has more than {_MANY:,} modules")
    for module in known:
        yield from ((path, module) for path in module.paths())
