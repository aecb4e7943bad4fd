"""Layouts that several schemes store, each under suffixes of its own."""

from dataclasses import dataclass
from typing import ClassVar

from hfcount.quantization.layout import Layout, PackedTensor, ceil_div


@dataclass(frozen=True, slots=True)
class Nvfp4(Layout):
    """Two 4-bit floats a byte, an 8-bit scale for a group of them, and one of all.

    `weight` is the suffix of the bytes; `global_scale` is the scale of all, `inputs` that of the inputs.
    """

    inputs_too: bool = True
    group: int = 16
    weight: ClassVar[str] = ".weight"
    global_scale: ClassVar[PackedTensor]
    inputs: ClassVar[PackedTensor]

    @property
    def label(self) -> str:
        kind = "NVFP4" if self.inputs_too else "NVFP4 of the weights alone"
        return kind if self.group == 16 else f"{kind}, groups of {self.group}"

    @property
    def grain(self) -> tuple[int, int]:
        return 1, self.group

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        return [
            PackedTensor(self.weight, (outputs, inputs // 2), ("U8",)),
            PackedTensor(".weight_scale", (outputs, ceil_div(inputs, self.group)), ("F8_E4M3",)),
            self.global_scale,
            *([self.inputs] if self.inputs_too else []),
        ]


@dataclass(frozen=True, slots=True)
class Mx(Layout):
    """MXFP4 and MXFP8: small floats with a power of two for a group of them; `packed` is the suffix of two a byte."""

    bits: int
    group: int = 32
    packed: ClassVar[str] = ".weight"

    @property
    def label(self) -> str:
        return f"MXFP{self.bits}" + ("" if self.group == 32 else f", groups of {self.group}")

    @property
    def grain(self) -> tuple[int, int]:
        return 1, self.group

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        scale = PackedTensor(".weight_scale", (outputs, ceil_div(inputs, self.group)), ("U8", "F8_E8M0"))
        if self.bits == 4:
            return [PackedTensor(self.packed, (outputs, inputs // 2), ("U8",)), scale]
        return [PackedTensor(".weight", (outputs, inputs), ("F8_E4M3",)), scale]
