"""Checks a LoRA in GGUF by itself, and against the model that it is for.

Source: llama.cpp 0.5.0, src/llama-adapter.cpp (`llama_adapter_lora_init_impl`), and src/llama-graph.cpp
(`build_lora_mm`, `build_lora_mm_id`, `build_inp_embd`) for what ends the process once a token is computed.
"""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from hfcount.checkpoints.gguf.summary import HALVES, Remark
from hfcount.checkpoints.gguf.table import Shape
from hfcount.formats.gguf.header import GgufHeader
from hfcount.text import printable
from hfcount.verifier.loaders.labels import LLAMA_CPP

TABLE = "token_embd.weight"
"""The rows of the embedding."""

_LEFT_OUT = "_norm.weight"
_ALPHA, _INVOCATION = "adapter.lora.alpha", "adapter.alora.invocation_tokens"
_WANTED = {"general.type": "adapter", "adapter.type": "lora"}
_NOT_MULTIPLIED = frozenset(("I8", "I16", "I32", "I64", "F64"))
"""Types of which llama.cpp multiplies no matrices."""


class LoraTarget(NamedTuple):
    """The model that a LoRA is for.

    Args:
        architecture: as llama.cpp calls it; None if that is not known.
        shapes: of its tensors, None for one that is not known.
        unmapped: tensors of its checkpoint whose names in GGUF are not known.
        ties: whether its embedding is its head, too; None if that is not known.
    """

    architecture: str | None
    shapes: Mapping[str, Shape | None]
    unmapped: tuple[str, ...] = ()
    ties: bool | None = False


# By itself


def check_lora(header: GgufHeader) -> Iterator[Remark]:
    """What llama.cpp refuses of an adapter whatever its base is, and what it leaves out."""
    for text in _metadata(header):
        yield Remark("lora-not-applied", "error", {"says": text})
    halves = {name: tensor.shape for name, tensor in header.tensors.items() if name.endswith(HALVES)}
    if not halves:
        yield Remark("lora-not-applied", "error", {"says": "it holds no pair of matrices, so that it changes nothing."})
    others = tuple(name for name in header.tensors if name not in halves)
    if strange := tuple(name for name in others if not name.endswith(_LEFT_OUT)):
        yield Remark("lora-strange", "error", {"tensors": strange})
    if norms := tuple(name for name in others if name.endswith(_LEFT_OUT)):
        yield Remark("lora-norms", "note", {"tensors": norms})
    if _ALPHA not in header.metadata or header.metadata[_ALPHA] == 0:
        says = f"{_ALPHA} is absent or 0: {LLAMA_CPP} then adds the product as it is, whatever it was trained with."
        yield Remark("lora-partly-applied", "note", {"says": says})
    yield from _pairs(halves)
    odd = {tensor.type: name for name, tensor in header.tensors.items() if tensor.type in _NOT_MULTIPLIED}
    for kind, name in odd.items():
        says = f"{printable(name)} is {kind}: {LLAMA_CPP} multiplies no matrices of that, and aborts."
        yield Remark("lora-not-applied", "error", {"says": says})


def _metadata(header: GgufHeader) -> Iterator[str]:
    for key, wanted in _WANTED.items():
        held = header.metadata.get(key)
        if held != wanted:
            shown = "absent" if key not in header.metadata else printable(str(held), 60) or "empty"
            yield f"{key} is {shown}, but has to be {wanted}: {LLAMA_CPP} refuses the file."
    kind, alpha = header.kinds.get(_ALPHA), header.metadata.get(_ALPHA)
    if kind is not None and kind != "f32":
        yield f"{_ALPHA} is of the type {kind}, but has to be f32: {LLAMA_CPP} aborts."
    elif isinstance(alpha, float) and not isfinite(alpha):
        yield f"{_ALPHA} is {alpha}: every value that {LLAMA_CPP} computes becomes NaN."
    if (kind := header.kinds.get(_INVOCATION)) not in (None, "u32[]"):
        yield f"{_INVOCATION} is of the type {kind}, but has to be u32[]: {LLAMA_CPP} refuses the file."


def _pairs(halves: Mapping[str, Shape]) -> Iterator[Remark]:
    for name, shape in halves.items():
        other = name[:-1] + ("b" if name.endswith("a") else "a")
        if other not in halves:
            yield Remark("half-missing", "error", {"tensor": name, "missing": other})
        elif name.endswith("a") and (len(shape) < 2 or len(halves[other]) < 2):
            says = f"{printable(name)} or its other half is no matrix: {LLAMA_CPP} refuses or aborts."
            yield Remark("lora-not-applied", "error", {"says": says})
        elif name.endswith("a") and shape[_rank(name)] != halves[other][-1]:
            yield Remark("rank-differs", "error", {"tensors": (name, other), "shapes": (shape, halves[other])})


def _rank(name: str) -> int:
    """Where the rank is in the shape of a first half: that of the embedding is turned."""
    return -1 if name.startswith(f"{TABLE}.") else -2


# Against its model


def compare_lora(header: GgufHeader, target: LoraTarget) -> Iterator[Remark]:
    """Differences between an adapter and the model that it is for."""
    name = header.text("general.architecture")
    if target.architecture is not None and name != target.architecture:
        yield Remark("lora-architecture", "error", {"expected": target.architecture, "observed": name})
        return
    strange = tuple(
        tensor for tensor in header.tensors if tensor.endswith(HALVES) and _module(tensor) not in target.shapes
    )
    if strange and target.unmapped:
        yield Remark("name-unknown", "unverified", {"tensors": target.unmapped, "architecture": name})
    elif strange:
        yield Remark("lora-unmatched", "error", {"tensors": strange})
    if wrong := tuple(_misfits(header, target.shapes)):
        yield Remark("lora-shape-differs", "error", {"tensors": wrong})
    if f"{TABLE}.lora_a" in header.tensors and target.ties is not False:
        yield _tied(target.ties)


def _tied(ties: bool | None) -> Remark:
    """The halves of an embedding that is the head, too, which are turned for it and not for the head."""
    if ties is None:
        return Remark("lora-tie-unknown", "unverified", {})
    says = (
        f"it adapts {TABLE}, which is also the head of this base: {LLAMA_CPP} loads it, and aborts on the first token."
    )
    return Remark("lora-not-applied", "error", {"says": says})


def _module(tensor: str) -> str:
    """The tensor of the model that a half is for."""
    return tensor.rpartition(".")[0]


def _misfits(header: GgufHeader, known: Mapping[str, Shape | None]) -> Iterator[tuple[str, Shape, Shape]]:
    """Halves that do not have the extents of the tensor: name, expected shape, stored shape."""
    for tensor, held in header.tensors.items():
        shape: Any = known.get(_module(tensor))
        if not tensor.endswith(HALVES) or shape is None or len(shape) < 2 or len(held.shape) < 2:
            continue
        *stack, rows, wide = shape
        rank = held.shape[_rank(tensor)] if tensor.endswith("a") else held.shape[-1]
        right = (*stack, rank, wide) if tensor.endswith("a") else (*stack, rows, rank)
        if _module(tensor) == TABLE:
            # The embedding's halves are turned: the rows of its A are those of the vocabulary, and of its B the width.
            right = (rows, rank) if tensor.endswith("a") else (wide, rank)
        if held.shape != right:
            yield tensor, right, held.shape
