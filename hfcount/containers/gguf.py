"""A GGUF file as a container: what it is, what it holds, and whether that is what its own metadata describes.

Source of the rules: llama.cpp, src/llama-model-loader.cpp (`done_getting_tensors`: a file with more or fewer tensors
than the model makes use of is refused), src/models, tools/mtmd/clip.cpp.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from hfcount.containers.gguf_metadata import alternatives
from hfcount.containers.gguf_table import Layers, Shape, extent, folded, table
from hfcount.formats.gguf import Header

Role = Literal["model", "projector", "adapter", "imatrix", "vocabulary"]
Severity = Literal["error", "note", "unverified"]

ADDED = frozenset(("rope_freqs", "rope_factors_long", "rope_factors_short"))
"""Tensors that a converter adds, of which no checkpoint has anything."""

_SUFFIXES = (".weight", ".bias", ".scale", ".input_scale")
_FUSED = {
    "attn_qkv": ("attn_q", "attn_k", "attn_v"),
    "ffn_gate_up_exps": ("ffn_gate_exps", "ffn_up_exps"),
    "attn_kv_b": ("attn_k_b", "attn_v_b"),
}
"""One tensor in place of several, by options of the converter."""


class Remark(NamedTuple):
    """Something worth telling of a file: what kind it is of, how bad it is, and the facts.

    Kinds are the names of rules; facts hold names, shapes, numbers, and nothing that was not measured.
    """

    kind: str
    severity: Severity
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a report says of a file.

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


def role(header: Header) -> Role:
    """What a file is: not every GGUF file is a model."""
    kind = header.text("general.type")
    if kind == "imatrix" or (header.tensors and all(name.endswith((".in_sum2", ".counts")) for name in header.tensors)):
        return "imatrix"
    if kind == "adapter" or header.text("adapter.type"):
        return "adapter"
    if kind == "mmproj" or header.text("general.architecture") == "clip":
        return "projector"
    return "model" if header.tensors else "vocabulary"


def summary(header: Header) -> Summary:
    """What a file holds."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for tensor in header.tensors.values():
        held = sums[tensor.type]
        held[0], held[1], held[2] = held[0] + 1, held[1] + tensor.elements, held[2] + tensor.bytes
    types = {name: (held[0], held[1], held[2]) for name, held in sorted(sums.items(), key=lambda item: -item[1][2])}
    imatrix = {
        key.rpartition(".")[2]: header.metadata[key] for key in header.metadata if key.startswith("quantize.imatrix.")
    }
    return Summary(
        role(header),
        header.text("general.architecture"),
        types,
        sum(held[1] for held in types.values()),
        sum(held[2] for held in types.values()),
        bases(header),
        imatrix,
    )


def bases(header: Header) -> tuple[str, ...]:
    """The models that a file was made of, as its metadata says: `org/name` where an address of the Hub is given."""
    found = []
    for number in range(min(header.number("general.base_model.count") or 0, 16)):
        prefix = f"general.base_model.{number}"
        address = header.text(f"{prefix}.repo_url")
        host, _, repo = address.partition("huggingface.co/")
        organization, name = (header.text(f"{prefix}.{key}").replace(" ", "-") for key in ("organization", "name"))
        named = f"{organization}/{name}" if organization and name else name
        if text := repo.strip("/") if host and repo else named:
            found.append(text)
    return tuple(found)


def architecture(header: Header) -> str:
    """The architecture as the table has it: of a projector `clip:` and its type."""
    name = header.text("general.architecture")
    if name != "clip":
        return name
    keys = ("clip.projector_type", "clip.vision.projector_type", "clip.audio.projector_type")
    return f"clip:{next((text for key in keys if (text := header.text(key))), '')}"


def vocabulary(header: Header) -> int | None:
    """How many tokens a file has; None if it does not say."""
    tokens = header.length("tokenizer.ggml.tokens")
    return tokens if tokens is not None else header.number(f"{header.text('general.architecture')}.vocab_size")


def check(header: Header, size: int | None = None) -> list[Remark]:
    """What is worth telling of one file by itself; for a part of a split set, of all parts joined (see gguf_set).

    Args:
        size: of the file in bytes; None if unknown, or if the header is that of several files.
    """
    remarks = []
    if header.foreign:
        kinds = sorted({header.tensors[name].type for name in header.foreign})
        remarks.append(Remark("type-of-a-fork", "unverified", {"tensors": header.foreign, "types": tuple(kinds)}))
    end = header.end + -header.end % header.alignment
    if size is not None and size > end and not header.foreign:
        remarks.append(Remark("bytes-after-end", "note", {"bytes": size - header.end, "end": header.end}))
    kind = role(header)
    if kind == "adapter":
        remarks += _check_adapter(header)
    if kind in ("model", "projector"):
        known = table().layers.get(architecture(header))
        usual = known.always if known else frozenset[str]()
        added = tuple(name for name in header.tensors if is_added(name) and folded(name)[0] not in usual)
        if added:
            remarks.append(Remark("converter-added", "note", {"tensors": added}))
        remarks += _check_layers(header, kind)
        remarks += _check_shapes(header)
    return remarks


def is_added(name: str) -> bool:
    """Whether the converter makes this tensor, and no checkpoint has anything of it."""
    return folded(name)[0].removeprefix("blk.").split(".")[0] in ADDED


def _check_adapter(header: Header) -> Iterator[Remark]:
    halves = {name: tensor.shape for name, tensor in header.tensors.items() if name.endswith((".lora_a", ".lora_b"))}
    for name, shape in halves.items():
        other = name[:-1] + ("b" if name.endswith("a") else "a")
        if other not in halves:
            yield Remark("half-missing", "error", {"tensor": name, "missing": other})
        elif name.endswith("a") and len(shape) == len(halves[other]) == 2 and shape[0] != halves[other][1]:
            yield Remark("rank-differs", "error", {"tensors": (name, other), "shapes": (shape, halves[other])})


def _stacks(header: Header, kind: Role) -> Iterator[tuple[str, int, int]]:
    """The stacks of layers: what their names begin with, how many layers metadata counts, how many predict further."""
    name = header.text("general.architecture")
    pairs: tuple[tuple[str, str], ...] = (("", f"{name}.block_count"), ("enc.", f"{name}.block_count"))
    if kind == "projector":
        pairs = (("v.", "clip.vision.block_count"), ("a.", "clip.audio.block_count"))
    present = {folded(tensor)[0].partition("blk.")[0] for tensor in header.tensors if folded(tensor)[1] is not None}
    further = header.number(f"{name}.nextn_predict_layers") or 0
    for prefix, key in (*pairs, ("dec.", f"{name}.decoder_block_count")):
        count = header.number(key)
        if prefix == "dec." and count is None:
            count = header.number(f"{name}.block_count")
        if count is not None and (prefix in present or (prefix == "" and not present)):
            yield prefix, count, 0 if prefix else min(further, count)


def _check_layers(header: Header, kind: Role) -> Iterator[Remark]:
    known = table().layers.get(architecture(header))
    held: dict[tuple[str, int], set[str]] = defaultdict(set)
    for name in header.tensors:
        short, layer = folded(name)
        if layer is not None and (known is None or not known.known or _known(name, known.known)):
            held[short.partition("blk.")[0], layer].add(short)
    for prefix, count, further in _stacks(header, kind):
        if known is None or "uncounted" not in known.marks:
            present = {at for stack, at in held if stack == prefix}
            yield from _check_count(header, prefix, count, further, present, kind)
        layers = {at: names for (stack, at), names in held.items() if stack == prefix and at < count - further}
        yield from _check_alike(prefix, layers, known)
    if kind == "model":
        yield from _check_names(header, known)


def _check_count(
    header: Header, prefix: str, count: int, further: int, present: set[int], kind: Role
) -> Iterator[Remark]:
    main = count - further
    lacking = [at for at in range(min(count, 100_000)) if at not in present and not _empty(header, at)]
    if further and present and min(present) >= main:  # a file of the layers that predict further tokens alone
        lacking = [at for at in lacking if at >= main]
    beyond = sorted(at for at in present if at >= count) if kind == "model" else []
    if lacking or beyond:
        facts = {
            "what": "layers",
            "stack": f"{prefix}blk",
            "expected": count,
            "observed": len(present),
            "missing": tuple(lacking[:100]),
            "unexpected": tuple(beyond[:100]),
        }
        alone = lacking and not beyond and all(at >= main for at in lacking)
        yield Remark("metadata-differs", "note" if alone else "error", facts)


def _empty(header: Header, layer: int) -> bool:
    """Whether metadata says that a layer has neither attention nor a feed-forward network."""
    name = header.text("general.architecture")
    lists = [header.metadata.get(f"{name}.{key}") for key in ("attention.head_count", "feed_forward_length")]
    return all(isinstance(values, tuple) and layer < len(values) and values[layer] == 0 for values in lists)


def _check_alike(prefix: str, layers: Mapping[int, set[str]], known: Layers | None) -> Iterator[Remark]:
    """Finds layers that lack a tensor which all layers like them have."""
    kinds = Counter(frozenset(names) for names in layers.values())
    varying = known.varying if known else frozenset[str]()
    usual = known.kinds if known else frozenset[frozenset[str]]()
    missing: dict[str, list[int]] = defaultdict(list)
    wider = {
        names: {name for other in kinds if names < other for name in other - names}
        - (varying if names & varying in usual else set())
        for names in kinds
    }
    for at, names in sorted(layers.items()):
        for name in wider[frozenset(names)]:
            missing[name].append(at)
    if known and known.model_types:
        for name in known.always:
            if name.startswith(f"{prefix}blk.") and _required(name, layers):
                missing[name] = sorted(layers)
    absent = tuple(f"{prefix}blk.{at}.{name.partition('blk.')[2]}" for name, places in missing.items() for at in places)
    if absent:
        sure = known is not None and bool(known.model_types)
        yield Remark(
            "metadata-differs" if sure else "layers-differ",
            "error" if sure else "unverified",
            {"what": "missing", "tensors": absent},
        )


def _required(name: str, layers: Mapping[int, set[str]]) -> bool:
    """Whether none of the layers holds this tensor, or another in its place, although each should."""
    core = name.partition("blk.")[2].rpartition(".")[0]
    if not name.endswith(".weight") or core.startswith("ffn_"):
        return False
    kind = core.split("_")[:2]  # attn_q may be there in place of attn_q_a
    if any(held.partition("blk.")[2].split(".")[0].split("_") == kind for names in layers.values() for held in names):
        return False
    others = [core, *(one for one, parts in _FUSED.items() if core in parts), *_FUSED.get(core, ())]
    return bool(layers) and not any(
        held.partition("blk.")[2].rpartition(".")[0] in others for names in layers.values() for held in names
    )


def _check_names(header: Header, known: Layers | None) -> Iterator[Remark]:
    if known is None or not known.known:
        yield Remark("architecture-unknown", "unverified", {"architecture": architecture(header)})
        return
    strange = tuple(name for name in header.tensors if not _known(name, known.known))
    if strange:
        yield Remark("metadata-differs", "error", {"what": "unknown", "tensors": strange})
    absent = tuple(
        name
        for name in sorted(known.always)
        if known.model_types and "blk." not in name and name.endswith(".weight") and name not in header.tensors
        if name in ("token_embd.weight", "output_norm.weight")
    )
    if absent and not _prediction_alone(header):
        yield Remark("metadata-differs", "error", {"what": "missing", "tensors": absent})


def _prediction_alone(header: Header) -> bool:
    name = header.text("general.architecture")
    main = (header.number(f"{name}.block_count") or 0) - (header.number(f"{name}.nextn_predict_layers") or 0)
    places = [place for tensor in header.tensors if (place := folded(tensor)[1]) is not None]
    return bool(places) and min(places) >= main


def _known(name: str, names: frozenset[str]) -> bool:
    short = folded(name)[0]
    cores = {short, *(short.removesuffix(suffix) for suffix in _SUFFIXES)}
    return not names.isdisjoint(cores) or is_added(name) or any(core.partition("blk.")[2] in _FUSED for core in cores)


def _check_shapes(header: Header) -> Iterator[Remark]:
    rows = table().shapes.get(architecture(header), {})
    tokens = vocabulary(header)
    sizes: dict[int | None, list[dict[str, int]]] = {}
    wrong = []
    for name, tensor in header.tensors.items():
        short, layer = folded(name)
        texts = rows.get(short)
        if texts is None:
            continue
        if layer not in sizes:
            sizes[layer] = alternatives(header.metadata, layer, tokens)
        shapes = [tuple(extent(text, known) for text in row) for row in texts for known in sizes[layer]]
        if not any(_fits(tensor.shape, shape) for shape in shapes):
            wrong.append((name, shapes[0], tensor.shape))
    if wrong:
        yield Remark(
            "metadata-differs",
            "error",
            {"what": "shapes", "tensors": tuple(wrong)},
        )


def _fits(shape: Shape, wanted: tuple[int | None, ...]) -> bool:
    """Whether a shape is the wanted one, as far as that is known; leading extents of 1 may be left out."""
    length = max(len(shape), len(wanted))
    held = (1,) * (length - len(shape)) + shape
    known = (1,) * (length - len(wanted)) + wanted
    return all(extent is None or extent == size for extent, size in zip(known, held, strict=True))
