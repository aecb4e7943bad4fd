"""modules.json of sentence-transformers: the steps from text to an embedding, and the folder of each."""

from collections.abc import Collection
from typing import Any, NamedTuple

from hfcount.errors import DocumentError
from hfcount.formats.json import Document, parse_value
from hfcount.text import shown

# Classes of sentence-transformers that read files of their own (5.x, models/*.py). Others may have none, and git keeps
# no empty folder.
_WITH_WEIGHTS = {"CNN", "Dense", "LSTM", "LayerNorm", "WeightedLayerPooling"}
_WITH_FILES = _WITH_WEIGHTS | {"Pooling", "StaticEmbedding", "Transformer", "WordEmbeddings"}
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


class Module(NamedTuple):
    """One step: its folder, empty for the checkpoint's own, and the name of its class."""

    folder: str
    kind: str

    def lacks(self, files: Collection[str]) -> str | None:
        """What it needs and is not among these files of the checkpoint; None if nothing is known to be missing."""
        if not self.folder or self.kind not in _WITH_FILES:
            return None
        own = {name for name in files if name.startswith(f"{self.folder}/")}
        if not own:
            return self.folder
        weights = {f"{self.folder}/{name}" for name in _WEIGHTS}
        return f"{self.folder}/{_WEIGHTS[0]}" if self.kind in _WITH_WEIGHTS and not own & weights else None


def read_modules(document: Document) -> list[Module]:
    """The steps in their order.

    Raises:
        DocumentError: HF001, it does not list modules.
    """
    value = parse_value(document)
    if not isinstance(value, list):
        raise DocumentError(f"{document.where} holds {shown(value)}, and must hold a list of modules.")
    return [_module(document.where, one) for one in value]


def _module(where: str, value: Any) -> Module:
    folder, kind = (value.get("path"), value.get("type")) if isinstance(value, dict) else (None, None)
    if not isinstance(folder, str) or not isinstance(kind, str):
        raise DocumentError(f"{where} has {shown(value)} for a module, and must give its path and type.")
    return Module(folder.strip("/"), kind.rpartition(".")[2])
