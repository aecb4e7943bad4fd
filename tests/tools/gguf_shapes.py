"""Finds the arithmetic over metadata that gives the extents of GGUF tensors, and which tensors every layer has."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

from hfcount.containers.gguf_metadata import alternatives
from hfcount.containers.gguf_table import extent, folded

Shape = tuple[int, ...]

FOREIGN = ("rope.freq", "sliding", "scal", "epsilon", "token_id", "_used", "top_k", "context", "temperature", "index_")
"""Parts of keys that are no sizes of tensors."""


@dataclass(frozen=True)
class Sample:
    """One converted model."""

    architecture: str
    model_type: str
    shapes: dict[str, Shape]
    metadata: dict[str, Any]
    tokens: int

    def sizes(self, layer: int | None) -> list[dict[str, int]]:
        """The sizes that its metadata gives, for the tensors of a layer."""
        return [
            {key: value for key, value in sizes.items() if not any(word in key for word in FOREIGN)}
            for sizes in alternatives(self.metadata, layer, self.tokens)
        ]


def dimension_rows(samples: list[Sample]) -> list[str]:
    """Section `shapes`: for each name the arithmetic that holds in most architectures, then that of the others."""
    cases: dict[str, dict[str, list[tuple[Shape, list[dict[str, int]]]]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        for name, shape in sample.shapes.items():
            short, layer = folded(name)
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
    return text.count("+") + text.count("*") + text.count("/") + 3 * ("block_count" in text), len(text)


def _candidates(cases: list[tuple[int, list[dict[str, int]]]]) -> list[str]:
    """The arithmetic that holds in all cases, simple before composed."""
    if len({value for value, _ in cases}) == 1 and len(cases) == 1:
        return []
    for build in (_single, _products, _sums):
        first, (sizes, *_) = cases[0]
        found = [
            text
            for text in build(first, sizes)
            if all(any(extent(text, other) == value for other in others) for value, others in cases)
        ]
        if found:
            return found
    return []


def _single(value: int, sizes: dict[str, int]) -> Iterator[str]:
    yield from (key for key, size in sizes.items() if size == value)
    if value <= 4:
        yield str(value)


def _terms(sizes: dict[str, int]) -> Iterator[tuple[int, str]]:
    for key, size in sizes.items():
        yield size, key
        yield 2 * size, f"2*{key}"
        if size % 2 == 0:
            yield size // 2, f"{key}/2"
    for (left, size), (right, other) in combinations_with_replacement(sizes.items(), 2):
        yield size * other, f"{left}*{right}"
        yield 2 * size * other, f"2*{left}*{right}"


def _products(value: int, sizes: dict[str, int]) -> Iterator[str]:
    yield from (text for number, text in _terms(sizes) if number == value)
    for factor in (3, 4, 6):
        yield from (f"{factor}*{key}" for key, size in sizes.items() if factor * size == value)
    for size, key in _terms(sizes):
        if "*" in key and size and value % size == 0:
            yield from (f"{key}*{other}" for other, number in sizes.items() if number * size == value)


def _sums(value: int, sizes: dict[str, int]) -> Iterator[str]:
    terms: dict[int, list[str]] = defaultdict(list)
    for number, text in _terms(sizes):
        terms[number].append(text)
    for number, texts in terms.items():
        for text in texts:
            for other in terms.get(value - number, ()):
                if text <= other:
                    yield f"{text}+{other}"
    for number, texts in list(terms.items()):
        for middle, others in list(terms.items()):
            if number + middle < value:
                for third in terms.get(value - number - middle, ()):
                    yield from (
                        f"{text}+{other}+{third}" for text in texts for other in others if text <= other <= third
                    )


def layer_rows(samples: list[Sample], gguf: Any) -> list[str]:
    """Section `layers`, a row an architecture."""
    names = {
        architecture: {gguf.TENSOR_NAMES[tensor] for tensor in tensors}
        for key, tensors in gguf.MODEL_TENSORS.items()
        for architecture in [gguf.MODEL_ARCH_NAMES[key]]
    }
    groups: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        groups[sample.architecture].append(sample)
    rows = []
    for architecture in sorted({*names, *groups} - {"clip", "mmproj"}):
        group = groups.get(architecture, [])
        known = {name.replace("blk.{bid}.", "blk.") for name in names.get(architecture, ())}
        known |= {folded(name)[0].rsplit(".weight", 1)[0].rsplit(".bias", 1)[0] for s in group for name in s.shapes}
        always, varying = _layers(group)
        cut = any(s.shapes.get("token_embd.weight", (0,))[0] == s.tokens for s in group)
        types = sorted({sample.model_type for sample in group})
        columns = [types, sorted(always), sorted(varying), sorted(known)]
        rows.append("\t".join([architecture, *(" ".join(column) for column in columns), "cut" if cut else "-"]))
    return rows


def _layers(samples: Iterable[Sample]) -> tuple[set[str], set[str]]:
    always: set[str] | None = None
    varying: set[str] = set()
    for sample in samples:
        held: dict[tuple[str, int], set[str]] = defaultdict(set)
        rest = set()
        last = sample.metadata.get(f"{sample.architecture}.block_count", 0)
        last -= sample.metadata.get(f"{sample.architecture}.nextn_predict_layers", 0)
        for name in sample.shapes:
            short, layer = folded(name)
            if layer is None:
                rest.add(short)
            elif layer < last or not short.startswith("blk."):
                held[(short.partition("blk.")[0], layer)].add(short)
        common = set(rest)
        for stack in {stack for stack, _ in held}:
            layers = [names for (of, _), names in held.items() if of == stack]
            whole = set.intersection(*layers)
            common |= whole
            varying |= set.union(*layers) - whole
        always = common if always is None else always & common
    return (always or set()) - varying, varying
