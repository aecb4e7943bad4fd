"""Collects the tensors of each packed module in one pass over the names of a checkpoint."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from hfcount.quantization.layout import Layout

CACHE_SCALES = frozenset(("k_scale", "v_scale", "kv_scale", "q_scale"))
"""Last segments of scales of attention's cache, which any scheme may store."""


OWN = frozenset((".weight", ""))
"""Suffixes of packed weights that have the name of the dense one."""


class Suffixes:
    """The suffixes of the tensors that some layouts store, each with a bit; `.weight` itself has none."""

    def __init__(self, layouts: Iterable[Layout]) -> None:
        self._bits: dict[str, int] = {}
        self._packed: set[str] = set()  # suffixes of packed weights
        for layout in layouts:
            first, *rest = layout.parts(4096, 4096)
            if first.suffix not in OWN:
                self._packed.add(first.suffix)
                self._bits.setdefault(first.suffix, 1 << len(self._bits))
            for part in [*rest, *([layout.bias] if layout.bias else [])]:
                self._bits.setdefault(part.suffix, 1 << len(self._bits))
        self._by_last: dict[str, list[str]] = {}
        for suffix in sorted(self._bits, key=len, reverse=True):
            self._by_last.setdefault(suffix.rpartition(".")[2] if suffix[0] == "." else "", []).append(suffix)

    def of(self, bits: int) -> frozenset[str]:
        """The suffixes whose bits are set."""
        return frozenset(suffix for suffix, bit in self._bits.items() if bit & bits)

    def collect(self, names: Iterable[str], described: Callable[[str], bool], lasts: Iterable[str]) -> "Collected":
        """Sorts the names of a checkpoint by the modules that they belong to.

        Args:
            described: whether a name is one of the blueprint's.
            lasts: the last segments of the blueprint's names, which alone have to be looked up.
        """
        collected, lasts = Collected(self), {*lasts}
        dense, beside, by_last, tails = collected.dense, collected.beside, self._by_last, self._by_last.get("", [])
        for name in names:
            last = name[name.rfind(".") + 1 :]
            suffixes = by_last.get(last, tails)
            suffix = _end(name, suffixes) if suffixes else None
            if suffix is None:
                if last in CACHE_SCALES and last not in by_last and not (last in lasts and described(name)):
                    collected.cache.append(name)
                else:
                    dense[name] = name
            elif suffix[0] == "." and last in lasts and described(name):
                dense[name] = name
            else:
                weight = name[: -len(suffix)] + (".weight" if suffix[0] == "." else "")
                beside[weight] = beside.get(weight, 0) | self._bits[suffix]
                if suffix in self._packed:
                    dense[weight] = name
        return collected

    def stored(self, weight: str, suffix: str) -> str:
        """The name of a tensor beside the dense weight of that name."""
        return (weight.removesuffix(".weight") if suffix[0] == "." else weight) + suffix


def _end(name: str, suffixes: Iterable[str]) -> str | None:
    """The first of these suffixes that a name has; None if it has none."""
    for suffix in suffixes:
        if name.endswith(suffix):
            return suffix
    return None


@dataclass(slots=True)
class Collected:
    """The names of a checkpoint as if its modules were dense.

    Args:
        dense: the dense name of each weight, and the stored name in its place.
        beside: bits of what stands beside a weight, by its dense name.
        cache: scales of attention's cache.
    """

    suffixes: Suffixes
    dense: dict[str, str] = field(default_factory=dict)
    beside: dict[str, int] = field(default_factory=dict)
    cache: list[str] = field(default_factory=list)
