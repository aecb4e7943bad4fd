"""modules.json of sentence-transformers: the modules from text to an embedding, and the files of each."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import PureWindowsPath
from typing import Any, NamedTuple

from hfcount.errors import DocumentError
from hfcount.formats.json import Document, parse_object, parse_value
from hfcount.text import printable, shown

MOST = 100
"""Modules of a model whose files are read."""

PACKAGE, PYLATE = "sentence_transformers", "pylate"  # the latter has a Dense of its own, with the same tensors
KIND = "config_sentence_transformers.json"  # which says what kind of model it is
ROUTERS, ROUTER_CONFIGS = ("Router", "Asym"), ("router_config.json", "config.json")
TRANSFORMERS = ("Transformer", "CLIPModel", "MLMTransformer")
EMBEDDING = ("BoW", "Pooling", "SparseStaticEmbedding", "SpladePooling", "StaticEmbedding")
"""Classes that give the embedding of a text."""

# Classes of sentence-transformers that read files of their own (6.2, */modules/*.py). Others may have none, and git
# keeps no empty folder.
_WITH_WEIGHTS = {
    "CNN",
    "Dense",
    "LSTM",
    "LayerNorm",
    "SparseAutoEncoder",
    "StaticEmbedding",
    "WeightedLayerPooling",
    "WordEmbeddings",
}
_NEEDED = {
    "StaticEmbedding": "tokenizer.json",
    "WordEmbeddings": "wordembedding_config.json",
    **dict.fromkeys(TRANSFORMERS, "config.json"),
}
"""A file besides that a class refuses to load without."""

_READING = {*_WITH_WEIGHTS, "SparseStaticEmbedding"}
_WITH_FILES = {*_WITH_WEIGHTS, *TRANSFORMERS, "Pooling", "SparseStaticEmbedding"}
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_CONFIGS = {
    "CNN": ("cnn_config.json",),
    "LSTM": ("lstm_config.json",),
    "WordEmbeddings": ("wordembedding_config.json",),
    "StaticEmbedding": (),
    **dict.fromkeys(ROUTERS, ROUTER_CONFIGS),
    **dict.fromkeys(
        TRANSFORMERS,
        tuple(
            f"sentence_{name}_config.json"
            for name in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
        ),
    ),
}
"""Names of the files with a class's config, the first that is there counts; config.json for any other class."""

_ADAPTER = "adapter_config.json"  # a model of transformers whose base is elsewhere
_INNER = ("config.json", "model.safetensors.index.json", "pytorch_model.bin.index.json")


class Module(NamedTuple):
    """One module: its folder, empty for the checkpoint's own, the name of its class, and the package of that.

    Args:
        reference: the path by which its class is imported.
    """

    folder: str
    kind: str
    package: str = PACKAGE
    reference: str = ""

    @property
    def label(self) -> str:
        """What messages call it: its folder, or its class where it has none."""
        return self.folder or self.kind

    def weights(self, files: Collection[str]) -> str:
        """The file of its weights: the first of the names that its class looks for that is among these files."""
        names = [self._path(name) for name in _WEIGHTS]
        return next((name for name in names if name in files), names[0])

    @property
    def holds_weights(self) -> bool:
        """Whether its class may read weights of its own, which a model of transformers reads in other ways."""
        return self.described and self.kind in _READING

    @property
    def described(self) -> bool:
        """Whether its class is one of sentence-transformers, or has what that has."""
        return self.package == PACKAGE or (self.package == PYLATE and self.kind == "Dense")

    def stored(self, files: Collection[str]) -> str | None:
        """A file of weights in its folder; None where there is none, or the folder is the checkpoint's."""
        return next(filter(self._is_weights, sorted(files)), None) if self.folder else None

    def config(self, files: Collection[str]) -> str:
        """The file of its config: the first of the names that its class looks for that is among these files."""
        names = [self._path(name) for name in _CONFIGS.get(self.kind, ("config.json",))]
        return next((name for name in names if name in files), names[0] if names else "")

    def lacks(self, files: Collection[str]) -> str | None:
        """What it needs and is not among these files of the checkpoint; None if nothing is known to be missing."""
        if self.kind in ROUTERS:
            return None if (config := self.config(files)) in files else config
        if self.kind not in _WITH_FILES or (self.kind in TRANSFORMERS and not self.folder):
            return None
        if self.folder and not any(name.startswith(f"{self.folder}/") for name in files):
            return self.folder
        if self.kind in _WITH_WEIGHTS and (weights := self.weights(files)) not in files:
            return weights
        if self.kind in TRANSFORMERS and not any(map(self._is_weights, files)):
            return self._path(_WEIGHTS[0])
        needed = self._path(_NEEDED.get(self.kind, ""))
        return needed if self.kind in _NEEDED and needed not in files and self._path(_ADAPTER) not in files else None

    def _is_weights(self, name: str) -> bool:
        return name.startswith(f"{self.folder}/") and name.endswith((".safetensors", ".bin"))

    @property
    def inner(self) -> Sequence[str]:
        """The documents of a model of transformers in a folder of its own; none of any other module."""
        known = self.folder and self.kind in TRANSFORMERS and self.package == PACKAGE
        return [self._path(name) for name in _INNER] if known else ()

    def _path(self, name: str) -> str:
        return f"{self.folder}/{name}" if self.folder else name


def read_modules(document: Document) -> list[Module]:
    """The modules in their order.

    Raises:
        DocumentError: HF001, it does not list modules.
    """
    value = parse_value(document)
    if not isinstance(value, list):
        raise DocumentError(f"{document.where} holds {shown(value)}, but must hold a list of modules.")
    if not value:
        raise DocumentError(f"{document.where} names no module, but must name those of the model.")
    modules = [_module(document.where, entry) for entry in value]
    names = [entry.get("name") for entry in value]
    if not all(isinstance(name, str) for name in names):
        raise DocumentError(f"{document.where} gives a module no name, but must give each one.")
    if any(not name or "." in name for name in names):
        raise DocumentError(f"{document.where} gives a module a name that is empty or has a dot, which torch refuses.")
    unlike = Counter(name for name, _ in {*zip(names, modules, strict=True)})
    if twice := [name for name, count in unlike.items() if count > 1]:
        raise DocumentError(
            f"{document.where} gives several modules the name {shown(twice[0])}: the last replaces them."
        )
    return [*dict(zip(names, modules, strict=True)).values()]


def read_router(document: Document, folder: str) -> Mapping[str, Sequence[Module]]:
    """The modules of each route of a Router that is in this folder, in their order.

    Raises:
        DocumentError: HF001, it has no such routes.
    """
    where, value = document.where, parse_object(document)
    types, routes = value.get("types"), value.get("structure")
    if not isinstance(types, dict) or not isinstance(routes, dict) or not routes:
        raise DocumentError(f"{where} must give the types and the structure of its routes.")
    if not isinstance(settings := value.get("parameters"), dict):
        raise DocumentError(f"{where} must give its parameters, such as default_route, and has {shown(settings)}.")
    start = f"{folder}/" if folder else ""
    known = {name: _module(where, {"path": f"{start}{name}", "type": kind}) for name, kind in types.items()}
    for route, names in routes.items():
        if not isinstance(names, list) or not names:
            raise DocumentError(f"{where} has {shown(names)} for route {shown(route)}, but must list its modules.")
        if lost := next((item for item in names if not isinstance(item, str) or item not in known), None):
            raise DocumentError(f"{where} has {shown(lost)} in route {shown(route)}, and types does not name it.")
    return {printable(route): [known[name] for name in names] for route, names in routes.items()}


def all_modules(listed: Sequence[Module], documents: Mapping[str, Document], files: Collection[str]) -> list[Module]:
    """The modules and those within their routers, each folder once, as far as the routers' documents were read."""
    unique: dict[Module, None] = {}
    left = list(listed)
    while left and len(unique) < MOST:
        module = left.pop(0)
        if module in unique:
            continue
        unique[module] = None
        document = documents.get(module.config(files)) if module.kind in ROUTERS else None
        if document is not None:
            try:
                left += [inner for modules in read_router(document, module.folder).values() for inner in modules]
            except DocumentError:
                continue  # a finding says it
    return list(unique)


def _module(where: str, value: Any) -> Module:
    folder, kind = (value.get("path"), value.get("type")) if isinstance(value, dict) else (None, None)
    if not isinstance(folder, str) or not isinstance(kind, str):
        raise DocumentError(f"{where} has {shown(value)} for a module, but must give its path and type.")
    path = PureWindowsPath(folder)
    if path.anchor or ".." in path.parts or "\0" in folder:
        raise DocumentError(f"{where} has {shown(folder)} for a module's path, which leads out of the checkpoint.")
    segments = [segment for segment in folder.split("/") if segment not in ("", ".")]
    return Module("/".join(segments), kind.rpartition(".")[2], kind.partition(".")[0], kind)
