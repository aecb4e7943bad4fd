"""Checks GGUF files that belong together: split sets, and a model with its projector."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hfcount.checkpoints.gguf.summary import Remark
from hfcount.formats.gguf.header import GgufHeader, GgufTensor

_SPLIT = re.compile(r"^(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$")
_RAW = re.compile(r"\.gguf\.?[.-](?:part|split)[-_.]?[0-9a-z]+(?:of\d+)?$", re.IGNORECASE)


def check_pair(model: GgufHeader, projector: GgufHeader) -> list[Remark]:
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
    match = _SPLIT.match(name)
    return (match["stem"], int(match["number"]), int(match["count"])) if match else None


def raw_part(name: str) -> bool:
    """Whether a file is a raw cut of a GGUF file, to be joined with its others before anything reads it."""
    return _RAW.search(name) is not None


def join(parts: Mapping[str, GgufHeader]) -> tuple[GgufHeader, list[Remark]]:
    """The header of a split set as if it were one file, and what is wrong with the set.

    Args:
        parts: by the names of the files; at least one.
    """
    ordered = sorted(parts, key=lambda name: (split_name(name) or (name, 0, 0))[1])
    first = parts[ordered[0]]
    count = first.number("split.count") or (split_name(ordered[0]) or ("", 0, len(parts)))[2]
    numbers = [(split_name(name) or ("", place + 1, 0))[1] for place, name in enumerate(ordered)]
    remarks = []
    missing = tuple(sorted(set(range(1, min(count, 99_999) + 1)) - set(numbers)))
    if missing:
        remarks.append(_incomplete("parts", count, len(parts), missing=missing))
    for name, number in zip(ordered, numbers, strict=True):
        for key, wanted in (("split.no", number - 1), ("split.count", count)):
            held = parts[name].number(key)
            if held is not None and held != wanted:
                remarks.append(_incomplete(key, wanted, held, file=name))
    tensors: dict[str, GgufTensor] = {}
    twice: list[str] = []
    for name in ordered:
        twice += [tensor for tensor in parts[name].tensors if tensor in tensors]
        tensors.update(parts[name].tensors)
    remarks += _check_tensors(first, len(tensors), twice, is_complete=not missing)
    return _whole(first, tensors, [parts[name] for name in ordered]), remarks


def _check_tensors(first: GgufHeader, held: int, twice: list[str], is_complete: bool) -> Iterator[Remark]:
    total = first.number("split.tensors.count")
    if twice:
        yield _incomplete("tensors twice", 0, len(twice), tensors=tuple(twice))
    if total is not None and is_complete and total != held:
        yield _incomplete("split.tensors.count", total, held)


def _incomplete(what: str, wanted: int, held: int, **facts: Any) -> Remark:
    return Remark("split-incomplete", "error", {"what": what, "expected": wanted, "observed": held, **facts})


def _whole(first: GgufHeader, tensors: Mapping[str, GgufTensor], parts: Sequence[GgufHeader]) -> GgufHeader:
    foreign = tuple(name for part in parts for name in part.foreign)
    return GgufHeader(
        first.version,
        first.metadata,
        tensors,
        first.table,
        first.alignment,
        sum(part.end for part in parts),
        foreign,
        any(part.alike for part in parts),
        first.kinds,
    )
