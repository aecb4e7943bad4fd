"""EXL3 of exllamav3: tiles of 16×16 weights in a trellis, of as many bits as a budget gives each matrix."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div
from hfcount.quantization.scheme import DENSE, Choice, Module, Scheme
from hfcount.quantization.settings import Settings

_PADDED = 128
_TILE = 16
_WORDS = (16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128)
"""16-bit words of a tile, for 1 to 8 bits a weight, and halves below four."""

_SURE = ("attention", "mlp", "experts", "lm_head")
_DENSE = 16


@dataclass(frozen=True, slots=True)
class Trellis(Layout):
    """Tiles of `words` 16-bit words, with signs of rows and columns as numbers, or before 0.0.2 as bits."""

    words: int
    bits_of_signs: bool = False

    @property
    def label(self) -> str:
        return f"EXL3 of {self.words / _TILE:g} bits"

    @property
    def readings(self) -> "tuple[Layout, ...]":
        return tuple(replace(self, words=words) for words in _WORDS if words != self.words)

    def alike(self, other: Layout | None) -> bool:
        # The settings say an average, and what is there counts.
        return isinstance(other, Trellis)

    @property
    def grain(self) -> tuple[int, int]:
        return _PADDED, _PADDED

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        rows, columns = (ceil_div(size, _PADDED) * _PADDED for size in (inputs, outputs))
        by = _TILE if self.bits_of_signs else 1
        kind, end = ("I16", "") if self.bits_of_signs else ("F16", "h")
        return [
            PackedTensor(".trellis", (rows // _TILE, columns // _TILE, self.words), ("I16",)),
            PackedTensor(f".su{end}", (rows // by,), (kind,)),
            PackedTensor(f".sv{end}", (columns // by,), (kind,)),
            PackedTensor(".mcg", (), ("I32", "U32"), False, usual=False),
            PackedTensor(".mul1", (), ("I32", "U32"), False, usual=False),
        ]


class Exl3(Scheme):
    """Packs the matrices of attention, of MLPs and of experts, and the head.

    Which of the others are packed is written in the converter, for each architecture.
    """

    name = "exl3"
    own_names = True

    def __init__(self, layout: Trellis, head: bool) -> None:
        self._layout, self._head = layout, head

    @property
    def layouts(self) -> Iterable[Layout]:
        return (self._layout, replace(self._layout, bits_of_signs=True))

    def choose(self, module: Module) -> Choice:
        if not module.linear or (module.component == "lm_head" and not self._head):
            return DENSE
        return Choice(
            self._layout, either=module.component not in _SURE or min(module.inputs, module.outputs) < _PADDED
        )


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: exl3`.

    Raises:
        Unmodelled: it says no number of bits.
    """
    width, head = settings.get("bits"), settings.get("head_bits")
    if not isinstance(width, int | float) or not 1 <= width <= _WORDS[-1] / _TILE:
        raise Unmodelled(f"bits {width}")
    words = max(count for count in _WORDS if count <= width * _TILE)
    return Exl3(Trellis(words), not (isinstance(head, int | float) and head >= _DENSE))
