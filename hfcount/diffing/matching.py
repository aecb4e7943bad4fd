"""Matches the tensors of two sides by key, and folds the result into rows."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from hfcount.diffing.pieces import Held, Stack, TensorPair, Tensors
from hfcount.diffing.tensors import Inventory, Logical
from hfcount.spec.tree.leaves import split
from hfcount.text import printable
from hfcount.verifier.folded_names import fold, placed, products, written

_ROWS = 500  # rows of a kind that a report lists
_TRIED = 40  # names by which a prefix is looked for


@dataclass(frozen=True, slots=True)
class Matches:
    """Tensors of both sides by key.

    Args:
        root: the prefix that only A's keys have, or `-` and the prefix that only B's have.
    """

    both: Mapping[str, tuple[Logical, Logical]]
    only_a: Mapping[str, Logical]
    only_b: Mapping[str, Logical]
    root: str = ""

    @property
    def shapes(self) -> dict[str, tuple[Logical, Logical]]:
        """Pairs with different shapes."""
        return {key: pair for key, pair in self.both.items() if pair[0].shape != pair[1].shape}

    @property
    def dtypes(self) -> dict[str, tuple[Logical, Logical]]:
        """Pairs with one shape and different dtypes, if both are known."""
        return {
            key: (tensor, other)
            for key, (tensor, other) in self.both.items()
            if tensor.shape == other.shape and tensor.dtype != other.dtype and tensor.dtype and other.dtype
        }

    @property
    def renamed(self) -> dict[str, tuple[Logical, Logical]]:
        """Pairs stored under different names, or fused on one side."""
        return {
            key: (tensor, other)
            for key, (tensor, other) in self.both.items()
            if (stored := _otherwise(tensor)) != (theirs := _otherwise(other))
            and (stored or theirs)
            and tensor.shape == other.shape
        }


def _otherwise(tensor: Logical) -> str:
    """The stored name of a tensor, if it is not the config's; else empty."""
    return f"{tensor.stored} in part" if _is_part(tensor) else tensor.stored if tensor.stored != tensor.name else ""


def _is_part(tensor: Logical) -> bool:
    return bool(tensor.bytes) and (len(tensor.bytes or ()) > 1 or (tensor.bytes or ())[0].begin > 0)


def match(a: Inventory, b: Inventory) -> Matches:
    """Matches tensors by key; if few match, also below a prefix that only one side has."""
    root, first, second = "", dict(a.tensors), dict(b.tensors)
    shared = first.keys() & second.keys()
    if len(shared) * 2 < min(len(first), len(second)):
        below, above = _root(first, second), _root(second, first)
        if below:
            root, first = below, _below(first, below)
        elif above:
            root, second = f"-{above}", _below(second, above)
    both = {key: (tensor, second[key]) for key, tensor in first.items() if key in second}
    only_a = {key: tensor for key, tensor in first.items() if key not in second}
    only_b = {key: tensor for key, tensor in second.items() if key not in first}
    return Matches(both, only_a, only_b, root)


def _root(larger: Mapping[str, Logical], part: Mapping[str, Logical]) -> str:
    """The prefix under which the larger side holds most keys of the part; "" if none."""
    names = list(part)
    votes: dict[str, int] = {}
    endings: dict[str, list[str]] = {}
    for key in larger:
        endings.setdefault(key.rpartition(".")[0].rpartition(".")[2] + key.rpartition(".")[2], []).append(key)
    tried = names[:: len(names) // _TRIED + 1]
    for name in tried:
        end = name.rpartition(".")[0].rpartition(".")[2] + name.rpartition(".")[2]
        for key in endings.get(end, ()):
            if key.endswith(f".{name}") and larger[key].shape == part[name].shape:
                votes[key[: -len(name)]] = votes.get(key[: -len(name)], 0) + 1
    best = max(votes, key=lambda prefix: votes[prefix], default="")
    return best if best and votes[best] * 2 > len(tried) else ""


def _below(tensors: Mapping[str, Logical], root: str) -> dict[str, Logical]:
    inner = {key.removeprefix(root): tensor for key, tensor in tensors.items() if key.startswith(root)}
    return inner | {key: tensor for key, tensor in tensors.items() if not key.startswith(root) and key not in inner}


def folded(matches: Matches) -> Tensors:
    """Folds matches into rows."""
    shapes, dtypes = matches.shapes, matches.dtypes
    return Tensors(
        alike=len(matches.both) - len(shapes) - len(dtypes),
        renamed=_pairs(matches.renamed),
        only_a=_alone(matches.only_a, "a"),
        only_b=_alone(matches.only_b, "b"),
        shapes=_pairs(shapes),
        dtypes=_pairs(dtypes),
        stacks=stacks(matches),
    )


_Facts = tuple[object, ...]


def grouped(keys: Iterable[str], facts: Callable[[str], _Facts]) -> list[tuple[str, list[str]]]:
    """Groups keys that differ only in numbers and share the same facts, as (folded name, keys)."""
    groups: dict[tuple[tuple[str, ...], _Facts], list[tuple[tuple[int, ...], str]]] = {}
    for key in keys:
        text, numbers = placed(key)
        groups.setdefault((text, facts(key)), []).append((numbers, key))
    rows = []
    for (text, _), members in groups.items():
        by_numbers = dict(members)
        rows += [
            (written(text, ranges), [by_numbers[numbers] for numbers in product(*ranges)])
            for ranges in products(list(by_numbers))
        ]
    return rows


def _pairs(pairs: Mapping[str, tuple[Logical, Logical]]) -> tuple[TensorPair, ...]:
    def facts(key: str) -> _Facts:
        tensor, other = pairs[key]
        return tensor.shape, other.shape, tensor.dtype, other.dtype, split(tensor.stored)[0], split(other.stored)[0]

    rows = grouped(pairs, facts)
    return tuple(
        TensorPair(
            name=printable(name),
            count=len(keys),
            component=pairs[keys[0]][0].component or pairs[keys[0]][1].component,
            a=held([pairs[key][0] for key in keys]),
            b=held([pairs[key][1] for key in keys]),
        )
        for name, keys in rows[:_ROWS]
    )


def _alone(tensors: Mapping[str, Logical], side: str) -> tuple[TensorPair, ...]:
    rows = grouped(tensors, lambda key: (tensors[key].shape, tensors[key].dtype, split(tensors[key].stored)[0]))
    result = []
    for name, keys in rows[:_ROWS]:
        there = held([tensors[key] for key in keys])
        a, b = (there, None) if side == "a" else (None, there)
        component = tensors[keys[0]].component
        result.append(TensorPair(name=printable(there.name or name), count=len(keys), component=component, a=a, b=b))
    return tuple(result)


def held(tensors: Sequence[Logical]) -> Held:
    """Summarizes tensors of one shape and dtype."""
    first = tensors[0]
    names = fold(dict.fromkeys(tensor.stored for tensor in tensors))
    return Held(name=printable(names[0]), shape=first.shape, dtype=first.dtype)


def stacks(matches: Matches) -> tuple[Stack, ...]:
    """Lists of layers or experts with different lengths on the two sides."""
    result: list[Stack] = []
    if not (matches.only_a or matches.only_b):
        return ()
    numbers = _numbers(matches)
    for name, (a, b) in numbers.items():
        if a and b and len(a) != len(b) and not _inside(name, [stack.name for stack in result]):
            what: Literal["layers", "experts"] = "experts" if "expert" in name.rpartition(".")[2] else "layers"
            result.append(Stack(name=printable(name), what=what, a=len(a), b=len(b)))
    return tuple(result)


def _inside(name: str, others: Collection[str]) -> bool:
    return any(name.startswith(f"{other}.") and "expert" not in name.rpartition(".")[2] for other in others)


def _numbers(matches: Matches) -> dict[str, tuple[set[int], set[int]]]:
    """The indices in each module list on side A and side B, by the list's name with `*` for outer indices."""
    sides: dict[str, tuple[set[int], set[int]]] = {}
    for place, keys in enumerate(((*matches.both, *matches.only_a), (*matches.both, *matches.only_b))):
        for key in keys:
            text, inner = split(key)
            for count, number in enumerate(inner):
                name = ".*".join(text[: count + 1])[1:]
                sides.setdefault(name, (set(), set()))[place].add(number)
    return sides
