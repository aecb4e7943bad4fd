"""How the names in a checkpoint match those of the blueprint."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from hfcount.tree.indices import Indices
from hfcount.tree.leaves import Finder, Label, Leaf
from hfcount.verifier.folding import fold

# Names of a norm's tensors in early checkpoints of BERT and similar models; loaders still accept them.
_OLD_NAMES = {"gamma": "weight", "beta": "bias"}

# A vision tower's prefix before transformers 5, and its prefix now.
_INNER = ("vision_tower.vision_model.", "vision_tower.")

# Prefixes that loaders add or remove: the base model's name inside another class.
_PREFIX = re.compile(r"(?:(?:model|transformer|language_model)\.)*")


@dataclass(slots=True)
class Match:
    """How the names agree.

    Args:
        listed: each leaf with the number of its tensors that the checkpoint lists.
        files: for each of `listed`, how many of its tensors are in which file; empty unless asked for.
        missing: names that the checkpoint lacks, folded.
        missing_count: the number of tensors that it lacks.
        missing_elements: elements of the tensors that it lacks.
        unexpected: names that the blueprint lacks.
        renamed: names that match with another prefix or spelling, as (listed, expected).
        heads: leaves of other classes' heads that are listed.
        headless: leaves of the config's own head that are missing while another head is listed.
    """

    listed: list[tuple[Leaf, int]] = field(default_factory=list)
    files: list[Mapping[str, int]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    missing_count: int = 0
    missing_elements: int = 0
    unexpected: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    heads: list[Leaf] = field(default_factory=list)
    headless: list[Leaf] = field(default_factory=list)
    _few: dict[int, list[str]] = field(default_factory=dict)  # listed names of leaves too large to enumerate

    @property
    def weights(self) -> int:
        """Elements of the parameters, tied copies and other heads that are listed."""
        listed = sum(count * leaf.size for leaf, count in self.listed if leaf.kind == "parameter")
        return listed + sum(leaf.size for leaf in self.heads)

    @property
    def buffers(self) -> int:
        """Elements of the buffers that are listed."""
        return sum(count * leaf.size for leaf, count in self.listed if leaf.kind == "buffer")

    def names(self, leaf: Leaf) -> list[str]:
        """Names of a leaf to look up; of a very large one only those listed, so that the checkpoint bounds the cost."""
        few = self._few.get(id(leaf))
        return leaf.names() if few is None else few

    def extra(self, *labels: Label) -> list[tuple[Leaf, int]]:
        """The leaves with these labels that are listed, and how many tensors of each."""
        return [(leaf, count) for leaf, count in self.listed if count and leaf.label in labels]


def match(
    leaves: Collection[Leaf],
    names: Collection[str],
    undescribed: tuple[str, ...] = (),
    files: Mapping[str, str] | None = None,
) -> Match:
    """Compares the names of a checkpoint with a blueprint's leaves.

    Args:
        names: a set or mapping; unexpected names keep its order.
        undescribed: prefixes of parts that are not described; names under them are ignored.
        files: the file of each name, where that is to be counted.
    """
    if undescribed:
        names = dict.fromkeys(name for name in names if not name.startswith(undescribed))
    found = _match(leaves, names, files)
    if found.missing_count and found.unexpected:
        renamed = _prefixes(found)
        if renamed:
            spelling = dict(renamed)
            files = files and {spelling.get(name, name): file for name, file in files.items()}
            found = _match(leaves, dict.fromkeys(spelling.get(name, name) for name in names), files)
            found.renamed = renamed
    return found


def set_heads_apart(found: Match, head: Collection[Leaf], other_heads: Collection[Leaf]) -> None:
    """Moves the heads of other classes of the architecture from `unexpected` to `heads`.

    Args:
        head: the matched leaves that are the head of the config's class.
        other_heads: leaves that only other classes have.
    """
    unexpected = set(found.unexpected)
    found.heads = [leaf for leaf in other_heads if leaf.name in unexpected]
    if not found.heads:
        return
    stored = {leaf.name for leaf in found.heads}
    found.unexpected = [name for name in found.unexpected if name not in stored]
    # If another head replaces the named one, the weights come from another class, and nothing is missing.
    found.headless = [leaf for leaf in head if leaf.counted and leaf.name in found.missing]
    for leaf in found.headless:
        found.missing.remove(leaf.name)
        found.missing_count -= int(leaf.count)
        found.missing_elements -= leaf.elements


def _match(leaves: Collection[Leaf], names: Collection[str], files: Mapping[str, str] | None) -> Match:
    result, known = Match(), 0
    # The names of a leaf with more tensors than the checkpoint could have are not generated, but found in its list.
    few = 2 * len(names) + 1_000
    large = {id(leaf) for leaf in leaves if leaf.count > few}
    if large:
        finder = Finder(leaves)
        result._few = {key: [] for key in large}
        for name in names:
            if (key := id(finder.find(name))) in large:
                result._few[key].append(name)
    for leaf in leaves:
        required = leaf.presence == "required"
        in_files: Counter[str | None] = Counter()
        if id(leaf) in large:
            count = len(result._few[id(leaf)])
            if files is not None:
                in_files = Counter(map(files.get, result._few[id(leaf)]))
            missing = [leaf.name if not count else f"{leaf.name} ({int(leaf.count) - count:,} of {leaf.count:,})"]
        else:
            if files is not None:
                in_files = Counter(leaf.places(files))
            # Where every name has a file, none is absent.
            absent = leaf.names_beyond(names) if None in in_files or files is None else []
            count = int(leaf.count) - len(absent)
            missing = fold(absent) if absent and required else []
        known += count
        result.listed.append((leaf, count))
        if files is not None:
            result.files.append({file: number for file, number in in_files.items() if file is not None})
        if required and count < leaf.count:
            result.missing += missing
            result.missing_count += int(leaf.count) - count
            result.missing_elements += (int(leaf.count) - count) * leaf.size
    if known < len(names):
        rest = set(names).difference(*result._few.values())
        for leaf in leaves:
            if id(leaf) not in large:
                rest.difference_update(leaf.names())
        result.unexpected = [name for name in names if name in rest]
    return result


def _prefixes(found: Match) -> list[tuple[str, str]]:
    """Pairs of a listed and an expected name that differ only in their prefix or an old spelling.

    As in loaders, a part is renamed as a whole or not at all: if some of its names match, its others are not matched
    with another prefix.
    """
    right = {_prefix(leaf.name) for leaf, count in found.listed if count}
    bare: dict[tuple[str | Indices, ...], tuple[Leaf, str]] = {}
    for leaf, count in found.listed:
        prefix = _prefix(leaf.name)
        if not count and (not prefix or prefix not in right):
            stripped = replace(leaf, segments=leaf.segments[prefix.count(".") :])
            bare[stripped.segments] = stripped, prefix
    prefixes = {id(leaf): prefix for leaf, prefix in bare.values()}
    finder = Finder(leaf for leaf, _ in bare.values())
    pairs = []
    for name in found.unexpected:
        stem = name[len(_prefix(name)) :].replace(*_INNER, 1)
        module, _, last = stem.rpartition(".")
        stem = f"{module}.{_OLD_NAMES[last]}" if last in _OLD_NAMES else stem
        known = finder.find(stem)
        if known is not None:
            pairs.append((name, prefixes[id(known)] + stem))
    # If two names match one tensor, they are not mere spellings of it.
    return pairs if len({expected for _, expected in pairs}) == len(pairs) else []


def _prefix(name: str) -> str:
    found = _PREFIX.match(name)
    return found[0] if found else ""
