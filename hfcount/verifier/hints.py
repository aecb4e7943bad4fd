"""Config values that would fit what was found."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hfcount.tree.dims import Dim, has_key
from hfcount.tree.indices import Indices
from hfcount.tree.leaves import Leaf, is_index


class Hint(NamedTuple):
    """One config value that would fit what was found.

    Args:
        key: the full key path, such as `text_config.hidden_size`, followed by `, by default` if the config lacks it.
            May be an expression over keys if no single key would fit.
        read: the value that was read.
        fits: the value that would fit.
    """

    key: str
    read: int
    fits: int

    def __str__(self) -> str:
        key, _, default = self.key.partition(", ")
        how = "is" if default or " " in key else "was read as"
        return f"{key} {how} {self.read:,}{default and f' {default}'}, and {self.fits:,} would fit."


def layers(leaves: Iterable[Leaf], names: Iterable[str], depth: int) -> Hint | None:
    """Suggests a layer count if the checkpoint's layers are numbered without gaps and the config says another number.

    `depth` is the layer count of the config, used if layers are of several kinds.
    """
    stacks: dict[tuple[str | Indices, ...], dict[Indices, None]] = {}
    for leaf in leaves:
        if place := _place(leaf):
            number = leaf.segments[place]
            assert isinstance(number, Indices)
            stacks.setdefault(leaf.segments[:place], {})[number] = None
    listed = list(names)
    for stack, parts in stacks.items():
        read = sum(int(part.count) for part in parts)
        own = next((part.count for part in parts if len(parts) == 1 and has_key(part.count)), depth)
        found = _found(".".join(map(str, stack)) + ".", listed)
        if found and found != read == own and isinstance(own, Dim):
            return Hint(own.source, read, found)
    return None


def _found(prefix: str, names: Iterable[str]) -> int:
    """How many different numbers follow the prefix; 0 unless they are 0, 1, 2, ... without gaps."""
    numbers = {name[len(prefix) :].partition(".")[0] for name in names if name.startswith(prefix)}
    found = {int(number) for number in numbers if is_index(number)}
    return len(found) if found and len(found) == max(found) + 1 else 0


def shape(leaf_shapes: Sequence[tuple[Leaf, tuple[int, ...]]], agreeing: Iterable[Leaf]) -> list[Hint]:
    """Each config value that alone would fit every stored shape; expressions over keys only if no key would.

    Args:
        leaf_shapes: leaves whose stored tensors have another shape, with that shape.
        agreeing: leaves whose stored tensors have the blueprint's shape.
    """
    found = [*leaf_shapes, *((leaf, leaf.shape) for leaf in agreeing)]
    fitting = [
        hint
        for hint in dict.fromkeys(_candidates(*leaf_shapes[0]))
        if all(_fits(leaf.shape, stored, hint) for leaf, stored in found)
    ]
    return [hint for hint in fitting if " " not in hint.key.partition(", ")[0]] or fitting


def _candidates(leaf: Leaf, found: tuple[int, ...]) -> Iterator[Hint]:
    if len(leaf.shape) != len(found):
        return
    for expected, size in zip(leaf.shape, found, strict=True):
        if expected == size or not isinstance(expected, Dim):
            continue
        for key, read in expected.read():
            # A size grows by the same factor or the same amount as its key.
            for fits in (read * size // expected if expected else 0, read + size - expected):
                if fits > 0 and not key.endswith(", fixed"):
                    yield Hint(key, read, int(fits))


def _fits(shape: tuple[int, ...], found: tuple[int, ...], hint: Hint) -> bool:
    return len(shape) == len(found) and all(
        (size.given(hint.key, hint.fits) if isinstance(size, Dim) else size) == stored
        for size, stored in zip(shape, found, strict=True)
    )


def _place(leaf: Leaf) -> int:
    """The position of the first index among the name's segments; 0 if it has none."""
    return next((place for place, segment in enumerate(leaf.segments) if not isinstance(segment, str)), 0)
