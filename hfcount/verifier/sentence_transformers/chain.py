"""Widths of features after each module of a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hfcount.verifier.sentence_transformers.classes import TOKENS, ModuleLayout

Widths = frozenset[int] | None
"""Each width that a feature may have, by the routes to it; None if that is not known."""


@dataclass(frozen=True, slots=True)
class Features:
    """The features after a module.

    Args:
        features: their widths, by name.
        sources: the modules that have written them last.
        complete: whether these are all; not after a module that is not described.
    """

    features: Mapping[str, Widths] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True

    def width(self, name: str) -> Widths:
        """The widths of a feature."""
        return self.features.get(name)

    def lacks(self, name: str) -> bool:
        """Whether there is no such feature."""
        return self.complete and name not in self.features

    def after(self, label: str, layout: ModuleLayout, stored: int | None = None) -> "Features":
        """The features after a module.

        Args:
            label: the module's name; stored: the width that its tensors give, where its config gives none.
        """
        if not layout.gives:
            return self
        widths: Widths = None
        if (out := layout.out or stored) is not None:
            widths = frozenset({out})
        elif layout.reads and layout.width is None and (known := self.width(layout.reads)) is not None:
            widths = frozenset(width * layout.times for width in known)
        after = self.with_feature(layout.gives, widths, label)
        return after.with_feature(layout.brings, None, label) if layout.brings else after

    def with_feature(self, name: str, widths: Widths, label: str) -> "Features":
        """The same with a feature that a module has written."""
        return replace(self, features={**self.features, name: widths}, sources={**self.sources, name: label})

    def unknown(self) -> "Features":
        """The features after a module that is not described: any of any width."""
        return Features(complete=False)


def wrong_widths(state: Features, layout: ModuleLayout) -> Sequence[int]:
    """The widths that a module is given and does not take."""
    given = state.width(layout.reads)
    return sorted(given - {layout.width}) if given is not None and layout.width is not None else ()


def joined(states: Sequence[Features]) -> Features:
    """The features after a router: those that each of its routes gives."""
    shared = set.intersection(*(set(state.features) for state in states))
    return Features(
        {name: _union([state.features[name] for state in states]) for name in sorted(shared)},
        {name: states[0].sources[name] for name in sorted(shared) if name in states[0].sources},
        all(state.complete for state in states),
    )


def _union(widths: Sequence[Widths]) -> Widths:
    known = [width for width in widths if width is not None]
    return frozenset[int]().union(*known) if len(known) == len(widths) else None


def begun(width: int | None, feature: str = TOKENS, label: str = "") -> Features:
    """The features after a transformer."""
    return Features().with_feature(feature, None if width is None else frozenset({width}), label)
