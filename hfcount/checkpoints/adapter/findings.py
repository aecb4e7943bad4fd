"""Compares the tensors of an adapter with the expected ones, and reports the differences."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

from hfcount.checkpoints.adapter.expected import ExpectedAdapter, embedding, output
from hfcount.checkpoints.adapter.methods import METHODS, Shape
from hfcount.checkpoints.adapter.modules import ModuleSet
from hfcount.checkpoints.adapter.names import StoredNames
from hfcount.checkpoints.adapter.settings import ADAPTER_CONFIG, Settings
from hfcount.spec import Head
from hfcount.spec.tree.leaves import split
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import TensorFacts
from hfcount.verifier.folded_names import fold
from hfcount.verifier.rules import RULES

_BASE_LAYER = ".base_layer."


class ShapeDifference(NamedTuple):
    """A tensor of another shape than expected."""

    name: str
    expected: Shape
    observed: Shape


@dataclass(slots=True)
class Differences:
    """The differences; names as stored, or as they would be.

    Args:
        refused: why PEFT refuses the settings for this base.
        other_head: the head of the class that it is loaded into, where the config's class has another.
        vocab: rows of the base's embedding.
        converts: whether PEFT converts names for this type of base, and adds its prefix where it is missing.
        missing: names of tensors that are not there.
        unexpected: tensors that are nothing in the base.
        shapes, ranks: tensors of another shape; those of another rank than the settings give.
        resized: tensors with another number of rows of the vocabulary.
        labels: tensors of a head with another number of labels.
        own_weights: tensors of the base that are stored beside the adapter.
    """

    settings: Settings
    named: StoredNames
    stored: Mapping[str, Shape]
    expected: ExpectedAdapter
    modules: Sequence[ModuleSet] = ()
    vocab: int = 0
    converts: bool = False
    refused: str = ""
    other_head: Head | None = None
    missing: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    shapes: list[ShapeDifference] = field(default_factory=list)
    ranks: list[ShapeDifference] = field(default_factory=list)
    resized: list[ShapeDifference] = field(default_factory=list)
    labels: list[ShapeDifference] = field(default_factory=list)
    own_weights: list[str] = field(default_factory=list)
    _rows: dict[int, set[int]] = field(default_factory=dict)  # of a head as stored, by those that are expected

    @property
    def number(self) -> int:
        """How many tensors are wrong."""
        return len(self.missing) + len(self.unexpected) + len(self.shapes) + len(self.ranks)

    def hold(self, common: Callable[[str], str]) -> None:
        """Compares names and shapes.

        Args:
            common: the name that all eras have in common.
        """
        there = {common(short): name for short, name in self.named.names.items()}
        for name, shape in self.expected.tensors.items():
            place = there.pop(common(name), None)
            if place is None:
                self.missing.append(name)
            else:
                self._compare(name, place, shape)
        for name, shape in self.expected.shared.items():
            place = self.named.without_module.get(name)
            if place is None:
                self.missing.append(name)
            else:
                self._compare(name, place, shape)
        self.unexpected += sorted(
            self.named.without_module[name] for name in self.named.without_module.keys() - self.expected.shared
        )
        self._besides(there, {common(name): shape for name, shape in self.expected.optional.items()}, common)
        if any(len(rows) > 1 for rows in self._rows.values()):  # parts of a head that disagree about its labels
            self.shapes += self.labels
            self.labels = []

    def _compare(self, name: str, place: str, shape: Shape) -> None:
        observed = self.stored[place]
        if name in self.expected.heads and shape and observed:
            self._rows.setdefault(shape[0], set()).add(observed[0])
        if observed not in (shape, self.expected.turned.get(name)):
            self._put(name, ShapeDifference(place, shape, observed))

    def _put(self, name: str, other: ShapeDifference) -> None:
        """Another shape, by its cause."""
        if name in self.expected.heads and other.expected[1:] == other.observed[1:]:
            self.labels.append(other)
        elif self._is_of_vocabulary(name) and _only(other, self.vocab):
            self.resized.append(other)
        elif self._is_of_other_rank(name, other):
            self.ranks.append(other)
        else:
            self.shapes.append(other)

    def _is_of_other_rank(self, name: str, other: ShapeDifference) -> bool:
        """Whether the method gives the tensor the stored shape at another rank of its module.

        A width is mostly a multiple of the rank, so that extents alone do not tell a rank from a width.
        """
        path = next((path for path in _parents(name) if path in self.expected.ranks), "")
        rank, method = self.expected.ranks.get(path, 0), METHODS.get(self.settings.method)
        if not rank or method is None or not method.rank[1]:
            return False
        at_rank, end = self.expected.at_rank[path], name.removeprefix(f"{path}.")
        return any(at_rank(known).get(end) == other.observed for known in _ranks(other, rank))

    def _is_of_vocabulary(self, name: str) -> bool:
        tables = (embedding(self.modules, self.vocab), output(self.modules))
        return any(table is not None and name.startswith(f"{table.first}.") for table in tables)

    def _besides(self, there: Mapping[str, str], optional: Mapping[str, Shape], common: Callable[[str], str]) -> None:
        """Stored tensors that the settings do not demand."""
        base_shapes = {
            common(f"{path}.{name}"): shape
            for module in self.modules
            if there and module.count <= 10_000
            for path in module.paths()
            for name, shape in module.tensors.items()
        }
        for short, name in there.items():
            shape, known = self.stored[name], base_shapes.get(short.replace(_BASE_LAYER, "."))
            if optional.get(short) == shape:
                continue
            wanted = optional.get(short, known)
            wrapped = _BASE_LAYER in short or (wanted is not None and self._is_of_vocabulary(short))
            if wanted is None or not wrapped:
                self.unexpected.append(name)
            elif wanted == shape:
                self.own_weights.append(name)
            elif self._is_of_vocabulary(short) and _only(ShapeDifference(name, wanted, shape), self.vocab):
                self.resized.append(ShapeDifference(name, wanted, shape))
            else:
                self.shapes.append(ShapeDifference(name, wanted, shape))


def _only(other: ShapeDifference, size: int) -> bool:
    """Whether only extents that are to be of this size differ."""
    return len(other.expected) == len(other.observed) and all(
        expected in (size, observed) for expected, observed in zip(other.expected, other.observed, strict=True)
    )


def _ranks(other: ShapeDifference, rank: int) -> set[int]:
    """The ranks that the stored extents may be of, where those expected are multiples of `rank`."""
    pairs = zip(other.expected, other.observed, strict=False)
    return {
        observed // (expected // rank)
        for expected, observed in pairs
        if expected != observed and expected >= rank and expected % rank == 0
    }


def report(differences: Differences) -> list[Finding]:
    """The findings, those that explain others first."""
    if not differences.stored or all(0 in shape for shape in differences.stored.values()):
        return [_finding("HF720", differences, (), stored=len(differences.stored))]
    if differences.refused:
        return [_finding("HF721", differences, (), reason=differences.refused)]
    method = METHODS.get(differences.settings.method)
    if method and not any(method.prefix in name for name in differences.stored) and differences.missing:
        reason = (
            f"no tensor belongs to {differences.settings.method}: these are weights of a model, perhaps a merged one"
        )
        return [_finding("HF721", differences, differences.stored, reason=reason)]
    return [*_errors(differences), *_notes(differences)]


def _errors(differences: Differences) -> Iterator[Finding]:
    empty = [name for name, shape in differences.stored.items() if 0 in shape]
    if empty:
        yield _finding("HF720", differences, empty, stored=len(differences.stored))
    if differences.named.wrapped:
        bare = differences.named.wrapped == "bare"
        names = differences.named.names.values()
        severity = "note" if bare and differences.converts and all(".lora_" in name for name in names) else "error"
        yield _finding("HF722", differences, names, bare=bare, severity=severity)
    if differences.missing:
        lonely = sum(1 for name in differences.missing if _has_half(name, differences))
        every = len(differences.missing) == len(differences.expected.tensors) + len(differences.expected.shared)
        yield _finding("HF724", differences, differences.missing, halves=lonely, every=every)
    if others := [other for other in differences.ranks if 0 not in other.observed]:
        yield _differing("HF723", differences, others)
    if others := [other for other in differences.shapes if 0 not in other.observed]:
        yield _differing("HF725", differences, others)
    if differences.unexpected:
        yield _finding("HF721", differences, differences.unexpected, reason="", beyond=_beyond(differences))


def _notes(differences: Differences) -> Iterator[Finding]:
    if differences.expected.unmatched:
        absent = differences.expected.unmatched
        yield _finding("HF726", differences, (), file=ADAPTER_CONFIG, absent=absent, count=len(absent))
    if differences.own_weights:
        yield _finding("HF727", differences, differences.own_weights)
    if differences.named.left:
        yield _finding("HF728", differences, (), count=differences.named.left)
    if differences.resized:
        yield _differing("HF729", differences, differences.resized)
    if differences.labels or differences.other_head:
        names = [other.name for other in differences.labels] or sorted(differences.expected.heads)
        yield _finding("HF730", differences, names, head=differences.other_head or "")


def _has_half(name: str, differences: Differences) -> bool:
    """Whether another tensor of the same module is stored."""
    path = next((path for path in _parents(name) if path in differences.expected.ranks), None)
    return path is not None and any(short.startswith(f"{path}.") for short in differences.named.names)


def _parents(name: str) -> Iterator[str]:
    while name:
        name = name.rpartition(".")[0]
        yield name


def _beyond(differences: Differences) -> str:
    """The layers that the base has, where unexpected tensors are of further ones; empty if that is not the cause."""
    texts = {split(name)[0]: split(name)[1] for name in differences.expected.tensors}
    shorts = {name: short for short, name in differences.named.names.items()}
    layers = {split(name)[1][0] for name in differences.expected.tensors if split(name)[1]}
    further = set()
    for name in differences.unexpected:
        text, numbers = split(shorts.get(name, name))
        if text not in texts or not numbers or numbers[0] in layers:
            return ""
        further.add(numbers[0])
    return f"{min(further)}" if further and layers else ""


def _finding(code: str, differences: Differences, names: Iterable[str], **facts: Any) -> Finding:
    known: dict[str, Any] = {"file": "adapter_model.safetensors", **_described(differences, names), **facts}
    return RULES[code](**known)


def _differing(code: str, differences: Differences, others: Sequence[ShapeDifference]) -> Finding:
    first = others[0]
    return _finding(
        code, differences, [other.name for other in others], expected=first.expected, observed=first.observed
    )


def _described(differences: Differences, names: Iterable[str]) -> TensorFacts:
    listed = list(names)
    shapes = [differences.stored[name] for name in listed if name in differences.stored]
    return TensorFacts(tensors=tuple(fold(listed)), count=len(listed), parameters=sum(map(prod, shapes)), bytes=None)
