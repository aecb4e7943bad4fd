"""Summarises a GGUF file: role, types, sizes and base models."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from hfcount.checkpoints.gguf.table import folded
from hfcount.formats.gguf.header import GgufHeader

Role = Literal["model", "projector", "adapter", "imatrix", "vocabulary"]
Severity = Literal["error", "note", "unverified"]

HALVES = (".lora_a", ".lora_b")
"""The ends of the names of a LoRA's matrices."""

ADDED = frozenset(("rope_freqs", "rope_factors_long", "rope_factors_short"))
"""Tensors that a converter adds, of which no checkpoint has anything."""


class Remark(NamedTuple):
    """A remark about a file: its kind, severity and facts.

    Kinds are the names of rules; facts hold names, shapes, numbers, and nothing that was not measured.
    """

    kind: str
    severity: Severity
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class GgufSummary:
    """The figures of a file in a report.

    Args:
        architecture: as llama.cpp calls it.
        types: tensors, elements and bytes of each type, most bytes first.
        elements: of all tensors, those of unknown types included.
        bytes: of all tensors.
        bases: repos or names of the models that it was made of, as its metadata says.
        imatrix: what the metadata says of the importance matrix that it was quantised with.
    """

    role: Role
    architecture: str
    types: Mapping[str, tuple[int, int, int]]
    elements: int
    bytes: int
    bases: tuple[str, ...]
    imatrix: Mapping[str, Any]

    @property
    def bits(self) -> float:
        """Bits a weight, all types together."""
        return 8 * self.bytes / self.elements if self.elements else 0.0


def role(header: GgufHeader) -> Role:
    """The role of a file, which need not be a model."""
    kind = header.text("general.type")
    if kind == "imatrix" or (header.tensors and all(name.endswith((".in_sum2", ".counts")) for name in header.tensors)):
        return "imatrix"
    if kind == "adapter" or header.text("adapter.type") or _is_lora(header):
        return "adapter"
    if kind == "mmproj" or header.text("general.architecture") == "clip":
        return "projector"
    return "model" if header.tensors else "vocabulary"


def _is_lora(header: GgufHeader) -> bool:
    """Whether all tensors are a LoRA's, whatever the metadata says."""
    return bool(header.tensors) and all(name.endswith(HALVES) for name in header.tensors)


def summary(header: GgufHeader) -> GgufSummary:
    """Sums up the tensors and metadata of a file."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for tensor in header.tensors.values():
        held = sums[tensor.type]
        held[0], held[1], held[2] = held[0] + 1, held[1] + tensor.elements, held[2] + tensor.bytes
    types = {name: (held[0], held[1], held[2]) for name, held in sorted(sums.items(), key=lambda item: -item[1][2])}
    imatrix = {
        key.rpartition(".")[2]: header.metadata[key] for key in header.metadata if key.startswith("quantize.imatrix.")
    }
    return GgufSummary(
        role(header),
        header.text("general.architecture"),
        types,
        sum(held[1] for held in types.values()),
        sum(held[2] for held in types.values()),
        bases(header),
        imatrix,
    )


def bases(header: GgufHeader) -> tuple[str, ...]:
    """The models that a file was made of, as its metadata says: `org/name` where an address of the Hub is given."""
    result = []
    for number in range(min(header.number("general.base_model.count") or 0, 16)):
        prefix = f"general.base_model.{number}"
        address = header.text(f"{prefix}.repo_url")
        host, _, repo = address.partition("huggingface.co/")
        organization, name = (header.text(f"{prefix}.{key}").replace(" ", "-") for key in ("organization", "name"))
        named = f"{organization}/{name}" if organization and name else name
        if text := repo.strip("/") if host and repo else named:
            result.append(text)
    return tuple(result)


def architecture(header: GgufHeader) -> str:
    """The architecture as the table has it: of a projector `clip:` and its type."""
    name = header.text("general.architecture")
    if name != "clip":
        return name
    keys = ("clip.projector_type", "clip.vision.projector_type", "clip.audio.projector_type")
    return f"clip:{next((text for key in keys if (text := header.text(key))), '')}"


def vocabulary(header: GgufHeader) -> int | None:
    """How many tokens a file has; None if it does not say."""
    tokens = header.length("tokenizer.ggml.tokens")
    return tokens if tokens is not None else header.number(f"{header.text('general.architecture')}.vocab_size")


def is_added(name: str) -> bool:
    """Whether the converter makes this tensor, and no checkpoint has anything of it."""
    return folded(name)[0].removeprefix("blk.").split(".")[0] in ADDED
