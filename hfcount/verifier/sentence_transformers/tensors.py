"""Checks the tensors of one module against its config."""

from collections.abc import Mapping
from typing import NamedTuple

from hfcount.formats.modules_json import Module
from hfcount.formats.safetensors import Entry
from hfcount.verifier.findings import Outcome
from hfcount.verifier.folded_names import fold
from hfcount.verifier.sentence_transformers.classes import ModuleLayout, Shape


class ModuleWeights(NamedTuple):
    """The weights of a module.

    Args:
        module: the module; config: the file of its config; file: that of its weights.
        layout: what the module is by its config.
        tensors: the header of its file; None if that was not read.
    """

    module: Module
    config: str
    file: str
    layout: ModuleLayout
    tensors: Mapping[str, Entry] | None

    @property
    def names(self) -> dict[str, str]:
        """The names under which the tensors are stored, by those of the layout."""
        second, stored = self.layout.second, self.tensors or {}
        return {name: name if name in stored else second.get(name, name) for name in self.layout.tensors}

    @property
    def width(self) -> int | None:
        """The width that a stored tensor gives, where the config does not."""
        if self.layout.by is None or self.tensors is None:
            return None
        name, axis = self.layout.by
        entry = self.tensors.get(self.names[name])
        return entry.shape[axis] if entry and len(entry.shape) > axis else None

    @property
    def shapes(self) -> list[tuple[int, ...]] | None:
        """The shapes of the tensors, as stored or else by the config; None if neither gives them."""
        if not self.layout.tensors:
            return []
        if self.tensors is not None:
            return [entry.shape for entry in self.tensors.values()]
        sides = [tuple(side for side in shape if side is not None) for shape in self.layout.tensors.values()]
        return sides if sides == [*self.layout.tensors.values()] else None


def check_tensors(stored: ModuleWeights, outcome: Outcome) -> bool | None:
    """HF802, HF803: whether a module's file holds what its config needs; None if it was not read."""
    if not stored.layout.tensors:
        return True
    if stored.tensors is None:
        return None
    known = stored.names
    lacking = tuple(name for name, stored_name in known.items() if stored_name not in stored.tensors)
    beyond = tuple(sorted(stored.tensors.keys() - known.values())) if stored.layout.exact else ()
    if lacking or beyond:
        _report_names(stored, lacking, beyond, outcome)
    differing = [
        name
        for name, shape in stored.layout.tensors.items()
        if name not in lacking and not _fits(stored.tensors[known[name]].shape, shape)
    ]
    if differing:
        _report_shapes(stored, differing, outcome)
    return not (lacking or beyond or differing)


def _report_names(stored: ModuleWeights, lacking: tuple[str, ...], beyond: tuple[str, ...], outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf802_module_tensors_differ import ModuleTensorsDiffer

    outcome.report(
        ModuleTensorsDiffer(
            file=stored.file,
            kind=stored.module.kind,
            config=stored.config,
            lacking=lacking,
            beyond=beyond,
            tensors=tuple(fold([*lacking, *beyond])),
            count=len(lacking) + len(beyond),
        )
    )


def _report_shapes(stored: ModuleWeights, differing: list[str], outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf803_module_shape_differs import ModuleShapeDiffers

    tensors, names = stored.tensors or {}, [stored.names[name] for name in differing]
    outcome.report(
        ModuleShapeDiffers(
            file=stored.file,
            kind=stored.module.kind,
            config=stored.config,
            expected=_written(stored.layout.tensors[differing[0]]),
            observed=tensors[names[0]].shape,
            tensors=tuple(names),
            count=len(names),
        )
    )


def _fits(stored: tuple[int, ...], shape: Shape) -> bool:
    return len(stored) == len(shape) and all(side in (None, size) for size, side in zip(stored, shape, strict=True))


def _written(shape: Shape) -> str:
    """A shape, such as 12×24, or any×any."""
    return "×".join("any" if side is None else str(side) for side in shape)
