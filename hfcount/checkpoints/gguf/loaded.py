"""Leaves out of the remarks about a GGUF file what llama.cpp disproves by loading it."""

from collections.abc import Iterable, Iterator

from hfcount.checkpoints.gguf.summary import Remark, role
from hfcount.formats.gguf.header import GgufHeader
from hfcount.verifier.loaders import recorded
from hfcount.verifier.loaders.llama_cpp.gguf import LIBRARY, Loading, loading

_SIZES = ("attention.head_count", "attention.head_count_kv", "feed_forward_length")


def newest(header: GgufHeader) -> Loading | None:
    """What the newest recorded llama.cpp makes of a model; None of a file that is no model."""
    return loading(recorded.versions(LIBRARY)[-1], header) if role(header) in ("model", "vocabulary") else None


def proven(remarks: Iterable[Remark], header: GgufHeader) -> Iterator[Remark]:
    """The remarks that hold although llama.cpp loads the file, or all if it does not.

    It makes every tensor from the metadata, and refuses a file with others. What is left are tensors that it does
    without, shapes where each layer has sizes of its own, and the bytes of the file.
    """
    remarks = list(remarks)
    loaded = newest(header) if any(remark.kind in _DISPROVED for remark in remarks) else None
    for remark in remarks:
        if loaded is None or not loaded.loads or remark.kind not in _DISPROVED or remark.facts.get("what") == "rope":
            yield remark
        elif remark.facts.get("what") == "shapes":
            if _varies(header):
                yield remark
        elif remark.facts.get("what") == "layers":
            if remark.severity == "note":
                yield remark
        elif left := tuple(name for name in remark.facts.get("tensors", ()) if name in loaded.absent):
            yield remark._replace(facts={**remark.facts, "tensors": left})


_DISPROVED = ("metadata-differs", "layers-differ", "architecture-unknown")


def _varies(header: GgufHeader) -> bool:
    """Whether the sizes of layers differ: all are loaded with those of the first, and each is computed with its own."""
    name = header.text("general.architecture")
    lists = (header.metadata.get(f"{name}.{key}") for key in _SIZES)
    return any(isinstance(values, tuple) and len({*values}) > 1 for values in lists)
