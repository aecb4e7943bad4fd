"""The names that a version of transformers writes.

Version 5 undoes on saving each conversion of names that it has made on loading, and only these: what is stored under
another name goes back there, what is not stored takes the old name only where a stored tensor took it, and the prefix
of the base model is not among the conversions. Version 4 writes the names in memory.

Source: transformers 5.24, core_model_loading.py:2016 (`_weight_conversions`: those that were used), 2024
(revert_weight_conversion) and 1710 (the prefix); 4.57.1, modeling_utils.py:3987.
"""

import re
from collections.abc import Collection
from functools import cached_property

from hfcount.blueprints.blueprint import Blueprint
from hfcount.diffing.saves.unknown import Unknown
from hfcount.spec.tree.leaves import Leaf
from hfcount.spec.tree.spellings import Rules, renamed


class WrittenNames:
    """The names that are written of a checkpoint.

    Args:
        blueprint: of its config.
        stored: the names in the checkpoint.
        older: whether version 4 writes them.
    """

    def __init__(self, blueprint: Blueprint, stored: Collection[str], older: bool) -> None:
        self._blueprint, self._stored, self._older = blueprint, stored, older

    def of_stored(self, stored: str, name: str) -> str:
        """The name that a tensor is written under.

        Args:
            stored: its name in the checkpoint.
            name: the blueprint's name for it.

        Raises:
            Unknown: it is not converted on loading, but others are, whose conversions are undone on saving.
        """
        if stored == name or self._older or stored in self._twins:
            return name
        spellings = self._blueprint.spellings
        prefix, common = spellings.prefix, spellings.common(name)
        if spellings.common(stored) == common:
            if common == stored and (stored != self._in_memory(name) or self._may_match(stored, name)):
                raise Unknown(f"{stored} is a name in memory, beside names that are converted on loading")
            return stored
        if not prefix:
            return stored
        if prefix + stored == name or stored == prefix + name:
            return name
        others = (prefix + stored, stored.removeprefix(prefix))
        return next((other for other in others if spellings.common(other) == common), stored)

    def of_absent(self, leaf: Leaf) -> Leaf:
        """The leaf under the names that its tensors are written under, none of which is stored."""
        if self._older or not self._unused:
            return leaf
        return renamed(leaf, self._in_memory)[0]

    def _in_memory(self, name: str) -> str:
        for pattern, replacement in self._unused:
            name = pattern.sub(replacement, name, count=1)
        return name

    def _may_match(self, stored: str, name: str) -> bool:
        """Whether a conversion of a name may also take the name in memory, where it is looked for anywhere in it."""
        patterns = [pattern for pattern, _ in self._blueprint.spellings.rules if pattern.search(name)]
        return any(re.search(pattern.pattern.lstrip("^"), stored) for pattern in patterns)

    @cached_property
    def _twins(self) -> frozenset[str]:
        """Second names of tensors, in place of which these may be stored."""
        return frozenset(leaf.name for leaf in self._blueprint.leaves if leaf.twin)

    @cached_property
    def _unused(self) -> Rules:
        """The conversions that no stored name takes."""
        rules = self._blueprint.spellings.rules
        used = set[int]()
        for name in self._stored:
            for place, (pattern, replacement) in enumerate(rules):
                name, times = pattern.subn(replacement, name, count=1)
                if times:
                    used.add(place)
            if len(used) == len(rules):
                break
        return tuple(rule for place, rule in enumerate(rules) if place not in used)
