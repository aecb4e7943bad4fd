"""AQLM: groups of weights as sums of entries of codebooks."""

from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, ceil_div
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import ExclusionScheme, Scheme
from hfcount.quantization.settings import Settings, bits, number, texts


@dataclass(frozen=True, slots=True)
class Codes(Layout):
    """`books` codebooks of 2^bits entries for groups of `rows` × `columns` weights."""

    books: int
    bits: int
    rows: int
    columns: int

    @property
    def label(self) -> str:
        return f"AQLM, {self.books} codebooks of {self.bits} bits"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        above, along = ceil_div(outputs, self.rows), ceil_div(inputs, self.columns)
        dtype = "I8" if self.bits <= 8 else "I16" if self.bits <= 16 else "I32"
        return [
            PackedTensor(".codes", (above, along, self.books), (dtype,)),
            PackedTensor(".codebooks", (self.books, 2**self.bits, self.rows, self.columns)),
            PackedTensor(".scales", (above, 1, 1, 1)),
        ]


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: aqlm`.

    Raises:
        Unmodelled: a size is no whole number.
    """
    layout = Codes(
        number(settings, "num_codebooks", default=1) or 1,
        bits(settings, "nbits_per_codebook", default=16, among=range(1, 25)),
        number(settings, "out_group_size", default=1) or 1,
        number(settings, "in_group_size", default=8) or 8,
    )
    dense = texts(settings, "linear_weights_not_to_quantize")
    listed = None if dense is None else Matcher((name.removesuffix(".weight") for name in dense), "path")
    return ExclusionScheme("aqlm", layout, listed)
