"""HIGGS: weights as entries of a lattice, in groups of 256 with a scale each."""

from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, ceil_div
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import ExclusionScheme, Scheme
from hfcount.quantization.settings import Settings, bits, group, texts


@dataclass(frozen=True, slots=True)
class Lattice(Layout):
    """Pairs of weights of `bits` bits each, and the tables of the lattice with every module."""

    bits: int
    group: int = 256

    @property
    def label(self) -> str:
        return f"HIGGS of {self.bits} bits"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        entries = 2**self.bits
        return [
            PackedTensor(".weight", (ceil_div(outputs * self.bits, 16), inputs), ("I16",)),
            PackedTensor(".scales", (outputs, ceil_div(inputs, self.group))),
            PackedTensor(".tables", (entries,)),
            PackedTensor(".tables2", (entries, entries, 2)),
        ]


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: higgs`.

    Raises:
        Unmodelled: it has other bits than 2, 3 or 4.
    """
    layout = Lattice(
        bits(settings, "bits", default=4, among=(2, 3, 4)), group(settings, "group_size", default=256) or 256
    )
    skipped = texts(settings, "modules_to_not_convert")
    return ExclusionScheme("higgs", layout, Matcher(skipped, "transformers") if skipped else None)
