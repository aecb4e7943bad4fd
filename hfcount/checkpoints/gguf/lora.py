"""Compares a LoRA in GGUF with the model of a config.

Source: llama-cpp-python 0.3.36, vendor/llama.cpp/src/llama-adapter.cpp (`llama_adapter_lora_init_impl`).
"""

from collections.abc import Iterator
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.gguf.base import MOST
from hfcount.checkpoints.gguf.names import expected
from hfcount.checkpoints.gguf.summary import Remark
from hfcount.checkpoints.gguf.table import Shape, table
from hfcount.formats.gguf.header import GgufHeader

_TABLE = "token_embd.weight"
_HALVES = (".lora_a", ".lora_b")
_LEFT_OUT = "_norm.weight"


def compare_lora(header: GgufHeader, blueprint: Blueprint) -> Iterator[Remark]:
    """Differences between an adapter and the model that it is for; halves that are missing are told without it."""
    name = header.text("general.architecture")
    if name not in table().layers:
        yield Remark("architecture-unknown", "unverified", {"architecture": name})
        return
    if blueprint.tensor_count > MOST:
        yield Remark("too-many", "unverified", {"observed": blueprint.tensor_count, "most": MOST})
        return
    bases = {tensor.removesuffix(half) for tensor in header.tensors for half in _HALVES if tensor.endswith(half)}
    wanted = expected(blueprint, name, int(blueprint.spec.depth), bases)
    known = {**wanted.optional, **wanted.shapes}
    strange = [tensor for tensor in header.tensors if not _is_known(tensor, known)]
    if strange and wanted.unmapped:
        yield Remark("name-unknown", "unverified", {"tensors": wanted.unmapped, "architecture": name})
    elif strange:
        yield Remark("lora-unmatched", "error", {"tensors": tuple(strange)})
    wrong = list(_misfits(header, known))
    if wrong:
        yield Remark("lora-shape-differs", "error", {"tensors": tuple(wrong)})


def _is_known(tensor: str, known: dict[str, Shape | None]) -> bool:
    return tensor.rpartition(".")[0] in known if tensor.endswith(_HALVES) else tensor.endswith(_LEFT_OUT)


def _misfits(header: GgufHeader, known: dict[str, Shape | None]) -> Iterator[tuple[str, Shape, Shape]]:
    """Halves whose width is not the tensor's: name, expected shape, stored shape."""
    for tensor, held in header.tensors.items():
        base, _, half = tensor.rpartition(".")
        shape: Any = known.get(base)
        if half not in ("lora_a", "lora_b") or shape is None or len(shape) < 2 or len(held.shape) < 2:
            continue
        wide, rows = (shape[-2], shape[-1]) if base == _TABLE else (shape[-1], shape[-2])
        # The embedding's halves are turned: the rows of its A are those of the vocabulary, and of its B the width.
        place, width = (-1, wide) if half == "lora_a" else (-2, rows)
        if base == _TABLE:
            place, width = -2, wide if half == "lora_a" else rows
        if held.shape[place] != width:
            right = list(held.shape)
            right[place] = width
            yield tensor, tuple(right), held.shape
