"""Compares a GGUF file with its base model."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.gguf.check import FUSED, swapped
from hfcount.checkpoints.gguf.names import ExpectedFile, expected
from hfcount.checkpoints.gguf.summary import Remark, Severity, architecture, is_added, role
from hfcount.checkpoints.gguf.table import Shape, folded, plain, table
from hfcount.formats.gguf.header import GgufHeader

_HEAD, _TABLE = "output.weight", "token_embd.weight"
MOST = 1_000_000  # tensors of a checkpoint that are named one by one


def compare(
    header: GgufHeader, blueprint: Blueprint, binding: bool = False, positions: int | None = None
) -> list[Remark]:
    """Differences between a file and the model of a config.

    A file that differs may be sound in itself: pruned, extended, or made of another model.

    Args:
        header: of a model or projector; of a split set that of all parts joined.
        binding: whether the model was asked for by hand, so that a difference is an error.
        positions: how many of the first rows of positions the converter drops.
    """
    name = architecture(header)
    if role(header) not in ("model", "projector"):
        return []
    if name not in table().layers:
        return [Remark("architecture-unknown", "unverified", {"architecture": name})]
    if blueprint.tensor_count > MOST:
        return [Remark("too-many", "unverified", {"observed": blueprint.tensor_count, "most": MOST})]
    count = header.number(f"{header.text('general.architecture')}.block_count") or 0
    further = header.number(f"{header.text('general.architecture')}.nextn_predict_layers") or 0
    wanted = expected(blueprint, name, count - further, header.tensors, positions)
    severity: Severity = "error" if binding else "note"
    facts = _differences(header, wanted, name)
    remarks = [Remark("differs-from-base", severity, facts)] if facts else []
    if wanted.unmapped and role(header) == "model" and (unknown := _not_elsewhere(wanted.unmapped)):
        remarks.append(Remark("name-unknown", "unverified", {"tensors": unknown, "architecture": name}))
    if _copied(header, wanted):
        remarks.append(Remark("converter-added", "note", {"tensors": (_HEAD,)}))
    return remarks


def _copied(header: GgufHeader, wanted: ExpectedFile) -> bool:
    """Whether a file holds the head of a model whose head is its embedding."""
    head, table = header.tensors.get(_HEAD), header.tensors.get("token_embd.weight")
    return head is not None and table is not None and _HEAD not in wanted.shapes and head.shape == table.shape


def _not_elsewhere(names: tuple[str, ...]) -> tuple[str, ...]:
    """Those names that are of no projector either."""
    known = {pattern for name, rows in table().names.items() if name.startswith("clip:") for pattern in rows}
    return tuple(name for name in names if re.sub(r"\.(?:\{[^}]*\}|\d+)(?=\.|$)", ".#", name) not in known)


def _differences(header: GgufHeader, wanted: ExpectedFile, name: str) -> dict[str, Any]:
    tensors = header.tensors
    missing = tuple(key for key in wanted.shapes if key not in tensors and not _fused(key, tensors))
    parts = {
        "missing": missing,
        "unexpected": () if wanted.unmapped else _unexpected(header, wanted, name),
        "shapes": (*_other_shapes(header, wanted, name), *_other_sums(header, wanted)),
    }
    facts: dict[str, Any] = {key: names for key, names in parts.items() if names}
    if facts:
        facts["rows"] = _rows(header, wanted)
        facts["layers"] = (_depth(wanted.shapes), _depth(tensors))
    return facts


def _unexpected(header: GgufHeader, wanted: ExpectedFile, name: str) -> tuple[str, ...]:
    known = wanted.shapes.keys() | wanted.optional.keys()
    made = {result for results in table().names.get(name, {}).get("*", ()) for result, _ in results}
    further = [key for key in header.tensors if key not in known and folded(key)[0] not in made]
    copied = _copied(header, wanted)
    return tuple(key for key in further if not (_added(key) or _joined(key, known) or (copied and key == _HEAD)))


def _other_shapes(header: GgufHeader, wanted: ExpectedFile, name: str) -> Iterator[tuple[str, Shape, Shape]]:
    for key, shape in (*wanted.shapes.items(), *wanted.optional.items()):
        held = header.tensors.get(key)
        if (
            held
            and shape is not None
            and not swapped(folded(key)[0])
            and not _alike(header, name, key, shape, held.shape)
        ):
            yield key, shape, held.shape


def _other_sums(header: GgufHeader, wanted: ExpectedFile) -> Iterator[tuple[str, Shape, Shape]]:
    for group in wanted.groups:
        if all(key in header.tensors for key in group.names):
            stored = sum(header.tensors[key].elements for key in group.names)
            if stored != group.elements:
                yield group.names[0], (group.elements,), (stored,)


def _alike(header: GgufHeader, name: str, key: str, shape: Shape, held: Shape) -> bool:
    if plain(shape) == plain(held):
        return True
    layers = table().layers.get(name)
    cut = layers is not None and "cut" in layers.marks and key in (_TABLE, _HEAD) and held[1:] == shape[1:]
    return bool(cut) and held[0] < shape[0] and header.length("tokenizer.ggml.tokens") in (None, held[0])


def _added(key: str) -> bool:
    return is_added(key) or key.endswith((".scale", ".input_scale"))


def _fused(key: str, tensors: Mapping[str, Any]) -> bool:
    """Whether a tensor is held as a part of another, or in parts."""
    for joined, parts in FUSED.items():
        for part in parts:
            if f".{part}." in key and key.replace(f".{part}.", f".{joined}.") in tensors:
                return True
        if f".{joined}." in key and all(key.replace(f".{joined}.", f".{part}.") in tensors for part in parts):
            return True
    return False


def _joined(key: str, known: Any) -> bool:
    for joined, parts in FUSED.items():
        if f".{joined}." in key and all(key.replace(f".{joined}.", f".{part}.") in known for part in parts):
            return True
        for part in parts:
            if f".{part}." in key and key.replace(f".{part}.", f".{joined}.") in known:
                return True
    return False


def _rows(header: GgufHeader, wanted: ExpectedFile) -> tuple[int | None, int | None]:
    shape, held = wanted.shapes.get("token_embd.weight"), header.tensors.get("token_embd.weight")
    return shape[0] if shape else None, held.shape[0] if held and held.shape else None


def _depth(names: Any) -> int:
    return max((place + 1 for name in names if (place := folded(name)[1]) is not None), default=0)
