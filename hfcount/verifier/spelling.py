"""Finds names that transformers converts to names of the blueprint."""

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import contains

from hfcount.spec.tree.leaves import Finder, Leaf, is_index, split
from hfcount.spec.tree.name_patterns import Alike, filled
from hfcount.spec.tree.spellings import Spellings, Swap, renamed

_EXPERT = re.compile(r"experts\.(\d+)\.")


@dataclass(frozen=True, slots=True)
class Respelled:
    """Names of a checkpoint that are other names of the blueprint's tensors.

    Args:
        names: by the name in the checkpoint, the blueprint's.
        swaps: tensors that are stored in another layout.
    """

    names: dict[str, str]
    swaps: list[Swap]


def respell(
    listed: Collection[tuple[Leaf, int]], names: Collection[str], unexpected: Collection[str], spellings: Spellings
) -> Respelled:
    """Finds the tensors that the unexpected names stand for.

    The base model's prefix is removed once from a name, or else added once, wherever that makes a name of the model,
    whatever the other names look like. Source: transformers 5.23, core_model_loading.py, rename_source_key.

    Args:
        listed: each leaf with the number of its tensors that the checkpoint lists.
        names: all names of the checkpoint.
    """
    swaps = list(spellings.swaps(leaf for leaf, count in listed if not count and leaf.count))
    lacking = [leaf for leaf, count in listed if count < leaf.count]
    pairs, used = _wanted([*lacking, *(leaf for swap in swaps for leaf in swap.stored)], unexpected, spellings)
    # Of two names of one tensor neither is a mere spelling of it.
    chosen = {
        stored[0]: wanted
        for wanted, stored in pairs.items()
        if stored == [wanted] or (len(stored) == 1 and wanted not in names)
    }
    for name in _out_of_order(chosen, names, pairs):
        del chosen[name]
    swapped = [swap for swap in swaps if any(id(leaf) in used for leaf in swap.stored)]
    return Respelled(chosen, swapped)


def _wanted(
    leaves: Iterable[Leaf], unexpected: Iterable[str], spellings: Spellings
) -> tuple[dict[str, list[str]], set[int]]:
    """The names that stand for each name of these leaves, and which leaves have any."""
    known = {}
    for leaf in leaves:
        common, old = renamed(leaf, spellings.common)
        known[id(common)] = common, leaf, old
    finder = Finder([common for common, _, _ in known.values()])
    forms = Alike(lambda name: _forms(name, spellings, finder))
    pairs: dict[str, list[str]] = {}
    used: set[int] = set()
    for name in unexpected:
        if match := _leaf(*forms.of(name)):
            _, leaf, old = known[id(match[0])]
            pairs.setdefault(old(match[1]), []).append(name)
            used.add(id(leaf))
    return pairs, used


_Form = tuple[Sequence[tuple[Leaf, Sequence[Container[int]]]], tuple[int, ...]]
"""Leaves whose names have the texts of a name, each with its numbers, and the numbers of the name."""


def _forms(name: str, spellings: Spellings, finder: Finder) -> list[_Form]:
    """Names that transformers may convert a name to; it uses the first that exists."""
    common, prefix = spellings.common(name), spellings.prefix
    # The reference removes the prefix by a pattern whose dot is any character.
    shorter = [common[len(prefix) :]] if prefix and common.startswith(prefix.removesuffix(".")) else []
    split_forms = map(split, dict.fromkeys([*shorter, prefix + common, common, name]))
    return [(leaves, numbers) for text, numbers in split_forms if (leaves := finder.leaves(text))]


def _leaf(forms: Iterable[_Form], numbers: tuple[int, ...]) -> tuple[Leaf, tuple[int, ...]] | None:
    """The leaf that a name with these numbers stands for, and the numbers of its tensor; None if it stands for none."""
    for leaves, marked in forms:
        inner = filled(marked, numbers)
        for leaf, sets in leaves:
            if all(map(contains, sets, inner)):
                return leaf, inner
    return None


def _out_of_order(chosen: Mapping[str, str], names: Collection[str], all_wanted: Iterable[str]) -> list[str]:
    """Names of experts that the reference would stack in another order than their numbers'.

    It takes names as they are stored in order, and only then removes or adds a prefix, so that experts are mixed up
    where some of them have it and some do not. Source: transformers 5.23, convert_and_load_state_dict_in_model.
    """
    if len({len(name) - len(wanted) for name, wanted in chosen.items()}) <= 1 and all(
        name in chosen for name in names if "experts." in name
    ):
        return []
    stems = {_numbered(wanted)[0] for wanted in all_wanted if _EXPERT.search(wanted)}
    groups: dict[str, list[tuple[str, int, int]]] = {}
    for name in names if stems else ():
        wanted = chosen.get(name, name)
        stem, number = _numbered(wanted)
        if stem in stems:
            groups.setdefault(stem, []).append((name, number, len(name) - len(wanted)))
    mixed = [group for group in groups.values() if _is_mixed(group)]
    return [name for group in mixed for name, _, _ in group if name in chosen]


def _is_mixed(group: Sequence[tuple[str, int, int]]) -> bool:
    """Whether experts, by stored name, number and letters added, are stored in another order than their numbers'."""
    stored = [number for name, number, _ in sorted(group, key=lambda expert: _natural(expert[0]))]
    return len({added for _, _, added in group}) > 1 and stored != sorted(stored)


def _numbered(name: str) -> tuple[str, int]:
    """A name without its expert's number, and that number; -1 if it is not one expert's."""
    match = _EXPERT.search(name)
    return (f"{name[: match.start(1)]}*{name[match.end(1) :]}", int(match[1])) if match else (name, -1)


def _natural(name: str) -> list[tuple[int, int, str]]:
    return [(0, int(part), "") if is_index(part) else (1, 0, part) for part in name.split(".")]
