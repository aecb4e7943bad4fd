"""Checks a GGUF file against its own metadata.

Source of the rules: llama.cpp, src/llama-model-loader.cpp (`done_getting_tensors`: a file with more or fewer tensors
than the model makes use of is refused), src/models, tools/mtmd/clip.cpp.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from hfcount.checkpoints.gguf.lora import check_lora
from hfcount.checkpoints.gguf.metadata import alternatives, used
from hfcount.checkpoints.gguf.summary import Remark, Role, architecture, is_added, role, vocabulary
from hfcount.checkpoints.gguf.table import Layers, Shape, extent, folded, table
from hfcount.formats.gguf.header import GgufHeader
from hfcount.verifier.loaders.labels import LLAMA_CPP
from hfcount.verifier.wording import agree, some

_SUFFIXES = (".weight", ".bias", ".scale", ".input_scale")
FUSED = {
    "attn_qkv": ("attn_q", "attn_k", "attn_v"),
    "ffn_gate_up_exps": ("ffn_gate_exps", "ffn_up_exps"),
    "attn_kv_b": ("attn_k_b", "attn_v_b"),
}
"""One tensor in place of several, by options of the converter."""

_EXPERT = re.compile(r"exps|ffn_\w+\.\d+\.")  # stacked, or one by one as older files have them

_TOGETHER = (
    (("ffn_gate_inp",), ("ffn_up_exps", "ffn_gate_up_exps"), ("ffn_down_exps",)),
    (("ffn_up", "ffn_gate"), ("ffn_down",)),
)
"""Groups of tensors that every layer has together, each in one of several forms."""

_KEYS = ("blk.attn_k", "blk.attn_v")

_ROTATED_WHOLE = ("llama", "deci", "falcon", "llama-embed")
_KINDS = 100  # kinds of layers; more are not compared with one another


def check(header: GgufHeader, size: int | None = None) -> list[Remark]:
    """Remarks about one file by itself; for a split set, about all parts joined (see split_set.py).

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
        remarks += check_lora(header)
    if kind in ("model", "projector"):
        known = table().layers.get(architecture(header))
        usual = known.always if known else frozenset[str]()
        added = tuple(name for name in header.tensors if is_added(name) and folded(name)[0] not in usual)
        if added:
            remarks.append(Remark("converter-added", "note", {"tensors": added}))
        remarks += _check_layers(header, kind)
        remarks += _check_shapes(header)
    if kind == "projector":
        remarks += _check_projector(header)
    if kind == "model":
        remarks += _check_counts(header)
        if not header.has_vocabulary and architecture(header) in table().layers:
            remarks.append(Remark("tokenizer-absent", "note", {}))
    return remarks


def _check_projector(header: GgufHeader) -> Iterator[Remark]:
    """A type whose tensors are not known, and keys without which llama.cpp loads no projector, whatever its type.

    Source: llama.cpp, tools/mtmd/clip.cpp (`clip_model_loader`, `load_hparams`).
    """
    known = table().layers.get(architecture(header))
    if known is None or not known.known:
        yield Remark("architecture-unknown", "unverified", {"architecture": architecture(header)})
    kinds = [kind for kind in ("vision", "audio") if header.metadata.get(f"clip.has_{kind}_encoder") is True]
    if not kinds:
        says = (
            f"neither clip.has_vision_encoder nor clip.has_audio_encoder is true: {LLAMA_CPP} takes the file for no"
            " projector, and not for a model either."
        )
        yield Remark("metadata-differs", "error", {"what": "says", "says": says})
    keys = [f"clip.{kind}.{key}" for kind in kinds for key in _OF_ENCODERS]
    keys += [f"clip.vision.{key}" for key in _OF_IMAGES if "vision" in kinds]
    if lacking := [key for key in keys if key not in header.metadata]:
        says = f"{some(lacking)} {agree(len(lacking), 'is', 'are')} absent: {LLAMA_CPP} refuses a projector without."
        yield Remark("metadata-differs", "error", {"what": "says", "says": says})


_OF_ENCODERS = (
    "embedding_length",
    "attention.head_count",
    "feed_forward_length",
    "block_count",
    "projection_dim",
    "attention.layer_norm_epsilon",
)
_OF_IMAGES = ("image_size", "patch_size", "image_mean", "image_std")


def _check_counts(header: GgufHeader) -> Iterator[Remark]:
    """Sizes that llama.cpp asks of every model as whole numbers, and experts that are counted and not stored."""
    name = header.text("general.architecture")
    for key in (f"{name}.block_count", f"{name}.embedding_length"):
        if key in header.metadata and header.number(key) is None:
            yield Remark("metadata-differs", "error", {"what": "type", "key": key})
    yield from _check_rotation(header, name)
    experts = header.number(f"{name}.expert_count") or 0
    if experts > 1 and not any(_EXPERT.search(tensor) for tensor in header.tensors):
        facts = {"what": "experts", "key": f"{name}.expert_count", "observed": experts}
        yield Remark("metadata-differs", "error", facts)


def _check_rotation(header: GgufHeader, name: str) -> Iterator[Remark]:
    """Rotated dimensions that are not those of a head, of the architectures for which llama.cpp compares them.

    Source: llama-cpp-python 0.3.36, vendor/llama.cpp/src/llama-model.cpp:1450 (`invalid n_rot`).
    """
    heads, width = header.number(f"{name}.attention.head_count"), header.number(f"{name}.embedding_length")
    key = f"{name}.rope.dimension_count"
    rotated, head = header.number(key), header.number(f"{name}.attention.key_length")
    if name not in _ROTATED_WHOLE or not heads or not width or rotated is None:
        return
    expected = width // heads if head is None else head
    if rotated != expected:
        facts = {"what": "rope", "key": key, "expected": expected, "observed": rotated}
        yield Remark("metadata-differs", "error", facts)


def _stacks(header: GgufHeader, kind: Role) -> Iterator[tuple[str, int, int]]:
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


def _check_layers(header: GgufHeader, kind: Role) -> Iterator[Remark]:
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
        sharing = header.number(f"{header.text('general.architecture')}.attention.shared_kv_layers") or 0
        yield from _check_alike(prefix, layers, known, count - further - (sharing if not prefix else 0))
    if kind == "model":
        yield from _check_names(header, known)


def _check_count(
    header: GgufHeader, prefix: str, count: int, further: int, present: set[int], kind: Role
) -> Iterator[Remark]:
    main = count - further
    lacking = [at for at in range(min(count, 20_000)) if at not in present and not _empty(header, at)]
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


def _empty(header: GgufHeader, layer: int) -> bool:
    """Whether metadata says that a layer has neither attention nor a feed-forward network."""
    name = header.text("general.architecture")
    lists = [header.metadata.get(f"{name}.{key}") for key in ("attention.head_count", "feed_forward_length")]
    return all(isinstance(values, tuple) and layer < len(values) and values[layer] == 0 for values in lists)


def _check_alike(prefix: str, layers: Mapping[int, set[str]], known: Layers | None, keyed: int) -> Iterator[Remark]:
    """Finds layers that lack a tensor which all layers like them have; those after the `keyed` have no keys to have."""
    if len(kinds := {frozenset(names) for names in layers.values()}) > _KINDS:
        yield Remark("layers-differ", "unverified", {"what": "kinds", "observed": len(kinds), "most": _KINDS})
        return
    lacking = {names: _lacking(names, kinds, known) for names in kinds}
    missing = {(at, name) for at, names in layers.items() for name in lacking[frozenset(names)]}
    sure = known is not None and bool(known.model_types)
    if known is not None and sure:
        missing |= set(_demanded(prefix, layers, known))
    missing = {(at, name) for at, name in missing if at < keyed or not name.startswith(_KEYS)}
    if missing:
        yield Remark(
            "metadata-differs" if sure else "layers-differ",
            "error" if sure else "unverified",
            {
                "what": "missing",
                "tensors": tuple(name.replace("blk.", f"blk.{at}.", 1) for at, name in sorted(missing)),
            },
        )


def _demanded(prefix: str, layers: Mapping[int, set[str]], known: Layers) -> Iterator[tuple[int, str]]:
    """Missing tensors: those of every layer of the architecture, and those of incomplete groups."""
    general = [name for name in known.always if name.startswith(f"{prefix}blk.")]
    for at, names in layers.items():
        yield from ((at, name) for name in general if _required(name, names))
        yield from ((at, name) for name in _halves(prefix, names))


def _halves(prefix: str, names: Collection[str]) -> Iterator[str]:
    """Missing tensors of incomplete groups in a layer."""
    for group in _TOGETHER:
        forms = [[f"{prefix}blk.{core}.weight" for core in cores] for cores in group]
        there = [not set(form).isdisjoint(names) for form in forms]
        if any(there):
            yield from (form[0] for form, is_there in zip(forms, there, strict=True) if not is_there)


def _lacking(names: frozenset[str], kinds: set[frozenset[str]], known: Layers | None) -> set[str]:
    """Tensors that a kind of layer lacks of a wider kind, except where layers are known to differ."""
    wider = {name for other in kinds if names < other for name in other - names}
    if known is None or names & known.varying not in known.kinds:
        return wider
    return wider - known.varying


def _required(name: str, names: Collection[str]) -> bool:
    """Whether a layer with these names lacks a tensor, and has no other in its place, although each should have it."""
    core = name.partition("blk.")[2].rpartition(".")[0]
    if not name.endswith(".weight") or core.startswith("ffn_"):
        return False
    held = [other.partition("blk.")[2] for other in names]
    kind = core.split("_")[:2]  # attn_q may be there in place of attn_q_a
    others = [core, *(joined for joined, parts in FUSED.items() if core in parts), *FUSED.get(core, ())]
    return not any(tensor.split(".")[0].split("_") == kind or tensor.rpartition(".")[0] in others for tensor in held)


def _check_names(header: GgufHeader, known: Layers | None) -> Iterator[Remark]:
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


def _prediction_alone(header: GgufHeader) -> bool:
    name = header.text("general.architecture")
    main = (header.number(f"{name}.block_count") or 0) - (header.number(f"{name}.nextn_predict_layers") or 0)
    places = [place for tensor in header.tensors if (place := folded(tensor)[1]) is not None]
    return bool(places) and min(places) >= main


def _known(name: str, names: frozenset[str]) -> bool:
    short = folded(name)[0]
    cores = {short, *(short.removesuffix(suffix) for suffix in _SUFFIXES)}
    return not names.isdisjoint(cores) or is_added(name) or any(core.partition("blk.")[2] in FUSED for core in cores)


def _check_shapes(header: GgufHeader) -> Iterator[Remark]:
    rows = table().shapes.get(architecture(header), {})
    tokens = vocabulary(header)
    metadata = used(header.metadata, (text for texts in rows.values() for row in texts for text in row))
    sizes: dict[int | None, list[dict[str, int]]] = {}
    wrong = []
    for name, tensor in header.tensors.items():
        short, layer = folded(name)
        texts = rows.get(short)
        if texts is None or swapped(short):
            continue
        if layer not in sizes:
            sizes[layer] = alternatives(metadata, layer, tokens)
        shapes = [tuple(extent(text, known) for text in row) for row in texts for known in sizes[layer]]
        if not any(_fits(tensor.shape, shape) for shape in shapes):
            wrong.append((name, shapes[0], tensor.shape))
    if wrong:
        yield Remark(
            "metadata-differs",
            "error",
            {"what": "shapes", "tensors": tuple(wrong)},
        )


def swapped(short: str) -> bool:
    """Whether older projectors have this tensor under the name of another: their ffn_up is ffn_down."""
    return short.startswith(("v.blk.ffn_up.", "v.blk.ffn_down."))


def _fits(shape: Shape, wanted: tuple[int | None, ...]) -> bool:
    """Whether a shape is the wanted one, as far as that is known; leading extents of 1 may be left out."""
    length = max(len(shape), len(wanted))
    held = (1,) * (length - len(shape)) + shape
    known = (1,) * (length - len(wanted)) + wanted
    return all(extent is None or extent == size for extent, size in zip(known, held, strict=True))
