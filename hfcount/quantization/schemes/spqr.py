"""SpQR: tiles of 3-bit weights and outliers beside them, as many of each as the settings say for every module."""

from collections.abc import Iterable
from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import DENSE, Choice, Module, Scheme
from hfcount.quantization.settings import Settings, table

_NAMES = ("dense_weights", "row_offsets", "col_vals", "in_perm")


@dataclass(frozen=True, slots=True)
class Tiles(Layout):
    """The number of elements of each tensor; 0 for one that is not there."""

    sizes: tuple[int, ...]
    label = "SpQR of 3 bits"

    def alike(self, other: Layout | None) -> bool:
        return isinstance(other, Tiles)

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        return [
            PackedTensor(f".{name}", (size,), ("I64",) if name == _NAMES[0] else ("I32",))
            for name, size in zip(_NAMES, self.sizes, strict=True)
            if size or name != _NAMES[-1]
        ]


class Spqr(Scheme):
    """Packs the modules that the settings have sizes for."""

    name = "spqr"

    def __init__(self, sizes: dict[str, Tiles]) -> None:
        self._sizes = sizes
        self.matchers = (Matcher(sizes, "path"),)

    @property
    def layouts(self) -> Iterable[Layout]:
        return (max(self._sizes.values(), key=lambda tiles: tiles.sizes[-1]),)  # with the permutation, if any has one

    def choose(self, module: Module) -> Choice:
        tiles = self._sizes.get(module.name)
        return Choice(tiles) if tiles else DENSE


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: spqr`.

    Raises:
        Unmodelled: it has no sizes, or some that are no sizes.
    """
    shapes, sizes = table(settings, "shapes"), dict[str, Tiles]()
    for key in shapes:
        if key.endswith(end := f".{_NAMES[0]}.shape"):
            name = key.removesuffix(end)
            tile_sizes = [shapes.get(f"{name}.{tensor}.shape") or 0 for tensor in _NAMES]
            if any(type(size) is not int or size < 0 for size in tile_sizes):
                raise Unmodelled(f"shapes of {name}")
            sizes[name] = Tiles(tuple(tile_sizes))
    if not sizes:
        raise Unmodelled("no shapes")
    return Spqr(sizes)
