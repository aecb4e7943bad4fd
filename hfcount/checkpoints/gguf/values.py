"""The tensors whose values llama.cpp's converter changes, as recorded by tests/tools/gguf_values.py.

gguf_values.tsv has a row for each model_type and the architecture that it becomes, its columns separated by tabs: both,
then what becomes of tensors whose values are not those of the checkpoint, one after another, by their names without
the number of a layer: `heads` and `kv`, `part0` and on, or `other`, as the tool describes them.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

Changes = Mapping[str, str]
"""Changes of values, by the name of the tensor; absent for unchanged tensors."""


def changes(model_type: str, architecture: str) -> Changes | None:
    """The converter's changes to the values of a model; None if not recorded."""
    return _rows().get((model_type, architecture))


@cache
def _rows() -> Mapping[tuple[str, str], Changes]:
    rows = {}
    for line in files(__package__).joinpath("gguf_values.tsv").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            kind, architecture, words = line.split("\t")
            rows[kind, architecture] = dict(word.split("=") for word in words.split())
    return rows
