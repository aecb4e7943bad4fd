"""Finds the arithmetic over metadata that gives the extents of GGUF tensors, and which tensors every layer has."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hfcount.checkpoints.gguf.metadata import alternatives
from hfcount.checkpoints.gguf.summary import ADDED
from hfcount.checkpoints.gguf.table import extent, folded

Shape = tuple[int, ...]

WIDTHS = (
    "embedding_length",
    "feed_forward_length",
    "key_length",
    "value_length",
    "key_length_mla",
    "value_length_mla",
    "inner_size",
    "state_size",
    "time_step_rank",
    "lora_rank",
    "dimension_count",
    "projection_dim",
    "patch_size",
    "per_layer_input",
    "l_cache",
    "conv_kernel",
    "head_size",
    "mix_extra_dim",
    "tokens",
    "num_mel_bins",
    "vocab_size",
)
"""Ends of keys that are widths of tensors."""

COUNTS = (
    "head_count",
    "head_count_kv",
    "expert_count",
    "shared_count",
    "group_count",
    "merge_size",
    "num_inputs",
    "buckets_count",
)
"""Ends of keys that are counts: of widths, or of rows."""

FIXED = (1, 3)
"""Extents that no size gives: vectors, colours, the kernels of convolutions."""

GENERAL = (
    "attention.head_count*attention.key_length",
    "attention.head_count*attention.value_length",
    "attention.kv_lora_rank+rope.dimension_count",
)
"""Tried beside what is simpler: the width of a model is that of its heads unless the metadata says otherwise."""


@dataclass(frozen=True)
class Sample:
    """One converted model."""

    architecture: str
    model_type: str
    shapes: dict[str, Shape]
    metadata: dict[str, Any]
    tokens: int
    cut: bool

    def sizes(self, layer: int | None) -> list[dict[str, int]]:
        """The sizes that its metadata gives, for the tensors of a layer."""
        return [
            {key: value for key, value in sizes.items() if key.endswith((*WIDTHS, *COUNTS)) or key == "block_count"}
            for sizes in alternatives(self.metadata, layer, self.tokens)
        ]

    @property
    def count(self) -> int:
        """How many layers its metadata counts."""
        return int(self.metadata.get(f"{self.metadata['general.architecture']}.block_count", 0))

    @property
    def layers(self) -> int:
        """How many layers it has."""
        return max((place + 1 for name in self.shapes if (place := folded(name)[1]) is not None), default=0)

    def held(self) -> tuple[set[str], dict[str, dict[int, set[str]]]]:
        """The names outside of its layers, and those of each layer by the stack that it is in."""
        rest: set[str] = set()
        stacks: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        last = self.count - self.metadata.get(f"{self.metadata['general.architecture']}.nextn_predict_layers", 0)
        for name in self.shapes:
            short, layer = folded(name)
            if layer is None:
                rest.add(short)
            elif layer < last or not short.startswith("blk."):
                stacks[short.partition("blk.")[0]][layer].add(short)
        return rest, stacks


def dimension_rows(samples: list[Sample]) -> list[str]:
    """Section `shapes`: for each name the arithmetic that holds in most architectures, then that of the others."""
    cases: dict[str, dict[str, list[tuple[Shape, list[dict[str, int]]]]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        for name, shape in sample.shapes.items():
            short, layer = folded(name)
            if short.removeprefix("blk.").split(".")[0] in ADDED:
                continue
            case = (shape, sample.sizes(layer))
            if case not in cases[short][sample.architecture]:
                cases[short][sample.architecture].append(case)
    return [row for name in sorted(cases) for row in _rows(name, cases[name])]


def _rows(name: str, by_architecture: dict[str, list[tuple[Shape, list[dict[str, int]]]]]) -> Iterator[str]:
    chosen: dict[str, dict[int, str]] = {}
    ranks: dict[str, int] = {}
    options: dict[int, dict[str, list[str]]] = defaultdict(dict)
    for architecture, cases in by_architecture.items():
        lengths = {len(shape) for shape, _ in cases}
        if len(lengths) > 1:
            continue
        ranks[architecture] = lengths.pop()
        for axis in range(ranks[architecture]):
            options[axis][architecture] = _candidates([(shape[axis], sizes) for shape, sizes in cases])
    for axis, candidates in options.items():
        proven = {
            text
            for architecture, texts in candidates.items()
            if not _once([(shape[axis], sizes) for shape, sizes in by_architecture[architecture]])
            for text in texts
        }
        for architecture, texts in candidates.items():
            if _once([(shape[axis], sizes) for shape, sizes in by_architecture[architecture]]):
                texts[:] = [text for text in texts if text in proven]
        for architecture, text in _fewest(candidates).items():
            chosen.setdefault(architecture, {})[axis] = text
    rows: dict[str, list[str]] = defaultdict(list)
    for architecture, rank in ranks.items():
        rows[" ".join(chosen.get(architecture, {}).get(axis, "?") for axis in range(rank))].append(architecture)
    for text, architectures in sorted(rows.items()):
        if text.strip("? "):
            yield f"{name}\t{text}\t{' '.join(sorted(architectures))}"


def _fewest(candidates: dict[str, list[str]]) -> dict[str, str]:
    """One text an architecture, as few different ones as can be; the simplest of those that cover as many."""
    chosen: dict[str, str] = {}
    while True:
        counts: dict[str, int] = defaultdict(int)
        for architecture, texts in candidates.items():
            if architecture not in chosen:
                for text in texts:
                    counts[text] += 1
        if not counts:
            return chosen
        best = min(counts, key=lambda text: (-counts[text], _weight(text), text))
        chosen |= {name: best for name, texts in candidates.items() if name not in chosen and best in texts}


def _weight(text: str) -> tuple[int, int]:
    return text.count("+") + text.count("*") + text.count("/"), len(text)


def _candidates(cases: list[tuple[int, list[dict[str, int]]]]) -> list[str]:
    """The arithmetic that holds in all cases, simple before composed; none if one case is all there is."""
    once = _once(cases)
    for build in (_single,) if once else (_single, _products, _sums):
        first, (sizes, *_) = cases[0]
        texts = [*build(first, sizes), *(GENERAL if build is _single else ())]
        found = [
            text
            for text in dict.fromkeys(texts)
            if all(any(extent(text, other) == value for other in others) for value, others in cases)
        ]
        if found:
            return found
    return []


def _once(cases: list[tuple[int, list[dict[str, int]]]]) -> bool:
    """Whether an extent is the same in all cases, so that arithmetic may fit it by chance."""
    return len({value for value, _ in cases}) == 1 and cases[0][0] not in FIXED


def _related(*terms: str) -> bool:
    """Whether all sizes in a sum are of the same part of the model."""
    keys = [key for term in terms for key in term.split("*") if not key.isdecimal() and key != "embedding_length"]
    parts = {"attention" if key.startswith("rope.") else key.partition(".")[0] for key in keys if "." in key}
    return len(parts) == 1 and all("." in key for key in keys)


def _single(value: int, sizes: dict[str, int]) -> Iterator[str]:
    yield from (key for key, size in sizes.items() if size == value and key != "block_count")
    if value in FIXED:
        yield str(value)


def _products(value: int, sizes: dict[str, int]) -> Iterator[str]:
    yield from (text for number, text in _terms(sizes) if number == value and ("*" in text or "/" in text))
    widths = [key for key in sizes if key.endswith(WIDTHS)]
    yield from (f"{factor}*{key}" for key in widths for factor in (2, 3, 4) if factor * sizes[key] == value)
    yield from (f"{key}/2" for key in widths if sizes[key] == 2 * value)
    for key in widths:
        for count in (key for key in sizes if key.endswith("merge_size")):
            if sizes[key] * sizes[count] ** 2 == value:
                yield f"{key}*{count}*{count}"
        if key.endswith("per_layer_input") and sizes[key] * sizes.get("block_count", 0) == value:
            yield f"{key}*block_count"


def _terms(sizes: dict[str, int]) -> Iterator[tuple[int, str]]:
    """Widths, so many times a width, and twice that."""
    for key, size in sizes.items():
        if key.endswith(WIDTHS):
            yield size, key
            yield 2 * size, f"2*{key}"
            for count, number in sizes.items():
                if count.endswith(COUNTS):
                    yield number * size, f"{count}*{key}"
                    yield 2 * number * size, f"2*{count}*{key}"


def _sums(value: int, sizes: dict[str, int]) -> Iterator[str]:
    terms = sorted(_terms(sizes), key=lambda term: term[1])
    texts: dict[int, list[str]] = defaultdict(list)
    for number, text in terms:
        texts[number].append(text)
    for number, text in terms:
        yield from (
            f"{text}+{other}" for other in texts.get(value - number, ()) if text < other and _related(text, other)
        )
    plain = [(number, text) for number, text in terms if text in sizes or text.startswith("2*")]
    for number, text in plain:
        for middle, other in plain:
            if text < other and _related(text, other):
                for third in texts.get(value - number - middle, ()):
                    if third not in (text, other) and _related(text, other, third):
                        yield f"{text}+{other}+{third}"


def layer_rows(samples: list[Sample], gguf: Any) -> list[str]:
    """Section `layers`, a row an architecture."""
    names = {
        architecture: {gguf.TENSOR_NAMES[tensor] for tensor in tensors if tensor in gguf.TENSOR_NAMES}
        for key, tensors in gguf.MODEL_TENSORS.items()
        for architecture in [gguf.MODEL_ARCH_NAMES[key]]
    }
    groups: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        groups[sample.architecture].append(sample)
    rows = []
    for architecture in sorted({*names, *groups} - {"clip", "mmproj"}):
        group = groups.get(architecture, [])
        known = {"output"} | {name.replace("blk.{bid}.", "blk.") for name in names.get(architecture, ())}
        known |= {folded(name)[0].rsplit(".weight", 1)[0].rsplit(".bias", 1)[0] for s in group for name in s.shapes}
        always, kinds = _layers(group)
        varying = {name for kind in kinds for name in kind}
        listed = "|".join(sorted(",".join(sorted(kind)) for kind in kinds)) if varying else ""
        marks = ["cut"] * any(sample.cut for sample in group)
        marks += ["uncounted"] * any(sample.layers != sample.count for sample in group if sample.count)
        types = sorted({sample.model_type for sample in group})
        columns = [
            " ".join(types),
            " ".join(sorted(always - varying)),
            listed,
            " ".join(sorted(known)),
            " ".join(marks),
        ]
        rows.append("\t".join([architecture, *columns]))
    return rows


def _layers(samples: Iterable[Sample]) -> tuple[set[str], set[frozenset[str]]]:
    """The names that all layers of all models have, and the kinds of layers by what only some layers have."""
    always: set[str] | None = None
    stacks = []
    for sample in samples:
        rest, held = sample.held()
        common = set(rest)
        for layers in held.values():
            common |= set.intersection(*layers.values())
            stacks.append(list(layers.values()))
        always = common if always is None else always & common
    varying = {name for layers in stacks for name in set.union(*layers) - set.intersection(*layers)}
    kinds = {frozenset(names & varying) for layers in stacks for names in layers}
    return always or set(), {kind for kind in kinds if kind or varying}
