"""A GGUF file against the model that it was made of, a projector against its model, and the parts of a split set."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hfcount.containers.gguf import Remark, Severity, architecture, is_added, role
from hfcount.containers.gguf_names import Expected, expected
from hfcount.containers.gguf_table import Shape, folded, plain, table
from hfcount.formats.gguf import Header, Tensor
from hfcount.plan import Blueprint

_SPLIT = re.compile(r"^(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$")
_HEAD = "output.weight"
_RAW = re.compile(r"\.gguf\.?[.-](?:part|split)[-_.]?[0-9a-z]+(?:of\d+)?$", re.IGNORECASE)


def compare(header: Header, blueprint: Blueprint, binding: bool = False) -> list[Remark]:
    """What differs between a file and a config's model.

    A file that differs may be sound in itself: pruned, extended, or made of another model.

    Args:
        header: of a model or projector; of a split set that of all parts joined.
        binding: whether the model was asked for by hand, so that a difference is an error.
    """
    name = architecture(header)
    if role(header) not in ("model", "projector"):
        return []
    if name not in table().names:
        return [Remark("architecture-unknown", "unverified", {"architecture": name})]
    count = header.number(f"{header.text('general.architecture')}.block_count") or 0
    further = header.number(f"{header.text('general.architecture')}.nextn_predict_layers") or 0
    wanted = expected(blueprint, name, count - further, header.tensors)
    severity: Severity = "error" if binding else "note"
    facts = _differences(header, wanted, name)
    remarks = [Remark("differs-from-base", severity, facts)] if facts else []
    if wanted.unmapped and role(header) == "model" and (unknown := _not_elsewhere(wanted.unmapped)):
        remarks.append(Remark("name-unknown", "unverified", {"tensors": unknown, "architecture": name}))
    if _copied(header, wanted):
        remarks.append(Remark("converter-added", "note", {"tensors": (_HEAD,)}))
    return remarks


def _copied(header: Header, wanted: Expected) -> bool:
    """Whether a file holds the head of a model whose head is its embedding."""
    head, table = header.tensors.get(_HEAD), header.tensors.get("token_embd.weight")
    return head is not None and table is not None and _HEAD not in wanted.shapes and head.shape == table.shape


def _not_elsewhere(names: tuple[str, ...]) -> tuple[str, ...]:
    """Those names that are of no projector either."""
    known = {pattern for name, rows in table().names.items() if name.startswith("clip:") for pattern in rows}
    return tuple(name for name in names if re.sub(r"\.(?:\{[^}]*\}|\d+)(?=\.|$)", ".#", name) not in known)


def _differences(header: Header, wanted: Expected, name: str) -> dict[str, Any]:
    tensors = header.tensors
    missing = tuple(key for key in wanted.shapes if key not in tensors and not _fused(key, tensors))
    known = wanted.shapes.keys() | wanted.optional.keys()
    made = {result for results in table().names[name].get("*", ()) for result, _ in results}
    copied = {_HEAD} if _copied(header, wanted) else set[str]()
    extra = tuple(
        key
        for key in tensors
        if key not in known | copied and folded(key)[0] not in made and not _added(key) and not _joined(key, known)
    )
    wrong: list[tuple[str, Shape, Shape]] = []
    for key, shape in (*wanted.shapes.items(), *wanted.optional.items()):
        held = tensors.get(key)
        if held and shape is not None and not _alike(header, name, key, shape, held.shape):
            wrong.append((key, shape, held.shape))
    for group in wanted.groups:
        if all(key in tensors for key in group.names):
            stored = sum(tensors[key].elements for key in group.names)
            if stored != group.elements:
                wrong.append((group.names[0], (group.elements,), (stored,)))
    parts = {"missing": missing, "unexpected": extra, "shapes": tuple(wrong)}
    facts: dict[str, Any] = {key: found for key, found in parts.items() if found}
    if facts:
        facts["rows"] = _rows(header, wanted)
        facts["layers"] = (_depth(wanted.shapes), _depth(tensors))
    return facts


def _alike(header: Header, name: str, key: str, shape: Shape, held: Shape) -> bool:
    if plain(shape) == plain(held):
        return True
    layers = table().layers.get(name)
    cut = layers is not None and "cut" in layers.marks and key == "token_embd.weight" and held[1:] == shape[1:]
    return bool(cut) and held[0] < shape[0] and header.length("tokenizer.ggml.tokens") in (None, held[0])


def _added(key: str) -> bool:
    return is_added(key) or key.endswith((".scale", ".input_scale"))


_PARTS = {
    "attn_qkv": ("attn_q", "attn_k", "attn_v"),
    "ffn_gate_up_exps": ("ffn_gate_exps", "ffn_up_exps"),
    "attn_kv_b": ("attn_k_b", "attn_v_b"),
}


def _fused(key: str, tensors: Mapping[str, Any]) -> bool:
    """Whether a tensor is held as a part of another, or in parts."""
    for whole, parts in _PARTS.items():
        for part in parts:
            if f".{part}." in key and key.replace(f".{part}.", f".{whole}.") in tensors:
                return True
        if f".{whole}." in key and all(key.replace(f".{whole}.", f".{part}.") in tensors for part in parts):
            return True
    return False


def _joined(key: str, known: Any) -> bool:
    for whole, parts in _PARTS.items():
        if f".{whole}." in key and all(key.replace(f".{whole}.", f".{part}.") in known for part in parts):
            return True
        for part in parts:
            if f".{part}." in key and key.replace(f".{part}.", f".{whole}.") in known:
                return True
    return False


def _rows(header: Header, wanted: Expected) -> tuple[int | None, int | None]:
    shape, held = wanted.shapes.get("token_embd.weight"), header.tensors.get("token_embd.weight")
    return shape[0] if shape else None, held.shape[0] if held and held.shape else None


def _depth(names: Any) -> int:
    return max((place + 1 for name in names if (place := folded(name)[1]) is not None), default=0)


def check_pair(model: Header, projector: Header) -> list[Remark]:
    """Whether a projector gives rows as wide as the model takes them (llama.cpp, tools/mtmd/mtmd.cpp).

    Older projectors have the width of their own in the metadata; the last of their tensors then tells.
    """
    width = model.number(f"{model.text('general.architecture')}.embedding_length")
    outputs = {tensor.shape[0] for name, tensor in projector.tensors.items() if name.startswith("mm.") and tensor.shape}
    for key in ("clip.vision.projection_dim", "clip.audio.projection_dim"):
        given = projector.number(key)
        if width is not None and given is not None and given != width and width not in outputs:
            return [Remark("projector-other-width", "error", {"key": key, "expected": width, "observed": given})]
    return []


def split_name(name: str) -> tuple[str, int, int] | None:
    """The set, number (from 1) and count that a part's name gives; None if it is no part's."""
    found = _SPLIT.match(name)
    return (found["stem"], int(found["number"]), int(found["count"])) if found else None


def raw_part(name: str) -> bool:
    """Whether a file is a raw cut of a GGUF file, to be joined with its others before anything reads it."""
    return _RAW.search(name) is not None


def join(parts: Mapping[str, Header]) -> tuple[Header, list[Remark]]:
    """The header of a split set as if it were one file, and what is wrong with the set.

    Args:
        parts: by the names of the files; at least one.
    """
    ordered = sorted(parts, key=lambda name: (split_name(name) or (name, 0, 0))[1])
    first = parts[ordered[0]]
    remarks = []
    count = first.number("split.count") or (split_name(ordered[0]) or ("", 0, len(parts)))[2]
    numbers = [(split_name(name) or ("", place + 1, 0))[1] for place, name in enumerate(ordered)]
    missing = tuple(number for number in range(1, min(count, 99_999) + 1) if number not in numbers)
    if missing:
        remarks.append(_incomplete("parts", count, len(parts), missing=missing))
    for name, number in zip(ordered, numbers, strict=True):
        part = parts[name]
        for key, wanted in (("split.no", number - 1), ("split.count", count)):
            held = part.number(key)
            if held is not None and held != wanted:
                remarks.append(_incomplete(key, wanted, held, file=name))
    tensors: dict[str, Tensor] = {}
    twice: list[str] = []
    for name in ordered:
        twice += [tensor for tensor in parts[name].tensors if tensor in tensors]
        tensors.update(parts[name].tensors)
    total = first.number("split.tensors.count")
    if twice:
        remarks.append(_incomplete("tensors twice", 0, len(twice), tensors=tuple(twice)))
    if total is not None and not missing and total != len(tensors):
        remarks.append(_incomplete("split.tensors.count", total, len(tensors)))
    return _whole(first, tensors, [parts[name] for name in ordered]), remarks


def _incomplete(what: str, wanted: int, held: int, **facts: Any) -> Remark:
    return Remark("split-incomplete", "error", {"what": what, "expected": wanted, "observed": held, **facts})


def _whole(first: Header, tensors: Mapping[str, Tensor], parts: Sequence[Header]) -> Header:
    foreign = tuple(name for part in parts for name in part.foreign)
    return Header(
        first.version,
        first.metadata,
        tensors,
        first.table,
        first.alignment,
        sum(part.end for part in parts),
        foreign,
        any(part.alike for part in parts),
    )
