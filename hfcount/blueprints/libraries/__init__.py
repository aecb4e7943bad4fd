"""Configs that another library than transformers reads, a module each.

Each has a row in LIBRARIES, which says how its config is told, and a module with

    config(values: Mapping[str, Any], where: str) -> dict[str, Any]
    built(config: Config) -> Blueprint

The first gives the config as families read it, the second the blueprint under the names of the library's own files.
A library whose configs name a model of transformers, by `names`, has besides

    with_named(config: dict[str, Any], named: Mapping[str, Any] | None, where: str) -> dict[str, Any]

which puts the config of that model in its place, and one that `drafts`

    otherwise(blueprint: Blueprint, names: Sequence[str]) -> Blueprint | None

which gives the blueprint of a draft, if names that are not the model's are of one. All raise ConfigError and
UnknownArchitecture as `hfcount.blueprints.build.build` does.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from hfcount.errors import DocumentError
from hfcount.fetcher.interface import Documents
from hfcount.fetcher.layout import (
    CONFIG,
    DIFFUSERS_LAYOUT,
    HF_LAYOUT,
    LEROBOT_LAYOUT,
    OPEN_CLIP,
    OPEN_CLIP_LAYOUT,
    PARAMS,
    Layout,
)
from hfcount.formats.json import parse_object

if TYPE_CHECKING:
    from hfcount.blueprints.blueprint import Blueprint
    from hfcount.mapper import Config


class Library(NamedTuple):
    """One of them.

    Args:
        name: what messages call it.
        module: of this folder.
        reads: whether a config is one of this library's, by the name of its file and its values.
        layout: the files that it looks for, where the name of the config does not tell.
        renames: whether tensors have other names in its files than families give them.
        names: the model of transformers that a config names and is built around; "" if it names none.
        drafts: whether names alone tell a draft for another model.
    """

    name: str
    module: str
    reads: Callable[[str, Mapping[str, Any]], bool]
    layout: Layout | None = None
    renames: bool = True
    names: Callable[[Mapping[str, Any]], str] = lambda values: ""
    drafts: bool = False

    def config(self, values: Mapping[str, Any], where: str) -> dict[str, Any]:
        """The config as families read it, without that of a model that it names."""
        read: dict[str, Any] = self._module.config(values, where)
        return read

    def whole_config(self, values: Mapping[str, Any], documents: Documents) -> dict[str, Any]:
        """The config as families read it."""
        where = documents.config.where
        read = self.config(values, where)
        if name := self.names(values):
            from hfcount.blueprints.libraries.named_models import config_of  # few name one

            read = self._module.with_named(read, config_of(name, documents), where)
        return read

    def built(self, config: "Config") -> "Blueprint":
        """The blueprint of what `config` gives."""
        made: Blueprint = self._module.built(config)
        return made

    def otherwise(self, blueprint: "Blueprint", names: Sequence[str]) -> "Blueprint | None":
        """Another blueprint, if names that are not the model's say that it is another model."""
        if not names or not self.drafts:
            return None
        draft: Blueprint | None = self._module.otherwise(blueprint, names)
        return draft

    @property
    def _module(self) -> Any:
        return import_module(f"{__name__}.{self.module}")


def _is_mistral(file: str, values: Mapping[str, Any]) -> bool:
    del values
    return file == PARAMS


def _is_diffusers(file: str, values: Mapping[str, Any]) -> bool:
    del file
    # model_type may also be an argument of the class
    others = values.get("model_type") and "_diffusers_version" not in values
    return isinstance(values.get("_class_name"), str) and not others


def _is_open_clip(file: str, values: Mapping[str, Any]) -> bool:
    del values
    return file == OPEN_CLIP


def _is_lerobot(file: str, values: Mapping[str, Any]) -> bool:
    features = isinstance(values.get("input_features"), Mapping) or isinstance(values.get("output_features"), Mapping)
    return file == CONFIG and isinstance(values.get("type"), str) and features and not values.get("model_type")


def _in_open_clip(values: Mapping[str, Any]) -> str:
    model = values.get("model_cfg")
    text = model.get("text_cfg") if isinstance(model, Mapping) else None
    name = text.get("hf_model_name") if isinstance(text, Mapping) else None
    return name if isinstance(name, str) else ""


def _in_lerobot(values: Mapping[str, Any]) -> str:
    name = values.get("vlm_model_name", "HuggingFaceTB/SmolVLM2-500M-Video-Instruct")
    return name if isinstance(name, str) and values["type"] == "smolvla" else ""


LIBRARIES = (
    Library("Mistral's own layout", "mistral", _is_mistral, drafts=True),
    Library("open_clip", "open_clip", _is_open_clip, OPEN_CLIP_LAYOUT, names=_in_open_clip),
    Library("LeRobot", "lerobot", _is_lerobot, LEROBOT_LAYOUT, names=_in_lerobot),
    Library("diffusers", "diffusers", _is_diffusers, DIFFUSERS_LAYOUT, renames=False),
)


def library_of(file: str, values: Mapping[str, Any]) -> Library | None:
    """The library that reads a config, by the name of its file and its values; None for transformers."""
    return next((library for library in LIBRARIES if library.reads(file, values)), None)


def as_read(documents: Documents, values: dict[str, Any]) -> tuple[Library | None, Documents, dict[str, Any]]:
    """The library under whose names a model is laid out, the documents with the files it reads, and their config.

    None stands for a library whose names are those of families.

    Args:
        values: what the config holds.
    """
    library = library_of(documents.layout.config, values)
    layout = HF_LAYOUT if library is None else library.layout or documents.layout
    if layout.reader != documents.layout.reader:  # which the names of the files alone told
        documents = documents.replace(layout=layout, index=None)
    values = library.whole_config(values, documents) if library else values
    return library if library and library.renames else None, documents, values


def names_another(documents: Documents) -> bool:
    """Whether the config names a model of transformers that it is built around."""
    try:
        values = parse_object(documents.config, endless=True)
    except DocumentError:
        return False
    library = library_of(documents.layout.config, values)
    return library is not None and library.names(values) != ""
