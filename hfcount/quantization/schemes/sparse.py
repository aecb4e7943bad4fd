"""compressed-tensors of 2:4 sparse weights: two of four, and a mask of their places, or an index for a kernel."""

from collections.abc import Iterable
from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div, divided
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import DENSE, Choice, Module, Scheme, excludes, usual
from hfcount.quantization.settings import Settings, texts, word

_WORD = 32


@dataclass(frozen=True, slots=True)
class Marlin24(Layout):
    """Integers in words, transposed, with scales of the rows before half of the inputs was left out."""

    bits: int
    group: int | None

    @property
    def label(self) -> str:
        return (
            f"2:4 sparse {self.bits}-bit integers, {f'groups of {self.group}' if self.group else 'one scale a channel'}"
        )

    @property
    def grain(self) -> tuple[int, int]:
        return 64, self.group or _WORD

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        tiles = inputs // _WORD
        return [
            PackedTensor(".weight_packed", (tiles, outputs * self.bits // 2), ("I32",)),
            PackedTensor(".scale_packed", (divided(inputs, self.group), outputs), ("F16",)),
            PackedTensor(".meta", (tiles, 2 * outputs), ("I16",)),
        ]


@dataclass(frozen=True, slots=True)
class Masked(Layout):
    """The weight of another layout, or of none, as half of its values and a bit for each place."""

    layout: Layout | None

    @property
    def label(self) -> str:
        return f"2:4 sparse {self.layout.label}" if self.layout else "2:4 sparse weights"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        tensors = self.layout.parts(outputs, inputs) if self.layout else [PackedTensor(".weight", (outputs, inputs))]
        return [
            PackedTensor(".compressed", (outputs, inputs // 2), tensors[0].dtypes),
            PackedTensor(".bitmask", (outputs, ceil_div(inputs, 8)), ("U8",)),
            PackedTensor(".shape", (2, 1), ("I64",)),
            *tensors[1:],
        ]


class Sparse(Scheme):
    """Stores what the sparsity targets as halves, quantised or not.

    Args:
        groups: how modules are quantised; None if none is.
        targets, ignored: names of modules that are sparse, unless they are ignored; without names all linear maps.
    """

    name = "compressed-tensors"

    def __init__(self, groups: Scheme | None, targets: tuple[str, ...], ignored: tuple[str, ...]) -> None:
        self._groups, self._every = groups, not targets or "Linear" in targets
        self._targets = Matcher([target for target in targets if target != "Linear"], "compressed-tensors")
        self._ignored = Matcher(ignored, "compressed-tensors")
        self.matchers = (self._targets, self._ignored, *(groups.matchers if groups else ()))
        if groups:
            self.caches, self.caches_heads = groups.caches, groups.caches_heads
            self.caches_stored, self.contradictions = groups.caches_stored, groups.contradictions

    @property
    def layouts(self) -> Iterable[Layout]:
        layouts = list(self._groups.layouts) if self._groups else []
        return [*map(Masked, layouts), *layouts] if layouts else [Masked(None)]

    def choose(self, module: Module) -> Choice:
        choice = self._groups.choose(module) if self._groups else DENSE
        sparse = self._targets.matches(module.name)
        if not sparse and self._every:
            sparse = usual(module, Masked(None), head=True).layout is not None
        if not sparse or excludes(self._ignored, module):
            return choice
        strictly = Masked(choice.strictly) if choice.strictly else None
        return choice._replace(layout=Masked(choice.layout), strictly=strictly)


def read(groups: Scheme | None, settings: Settings) -> Scheme:
    """The scheme of a `sparsity_config` around what `config_groups` say.

    Raises:
        Unmodelled: its format is another, or its weights are packed in another way, too.
    """
    form = word(settings, "format")
    if form != "sparse-24-bitmask":
        raise Unmodelled(f"sparsity_config {form}")
    if groups and any(layout.parts(64, 64)[0].suffix != ".weight" for layout in groups.layouts):
        raise Unmodelled(f"sparsity_config {form} of packed weights")
    return Sparse(groups, texts(settings, "targets") or (), texts(settings, "ignore") or ())
