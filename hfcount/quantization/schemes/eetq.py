"""EETQ: 8-bit integers, transposed, with a scale a row."""

from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import ExclusionScheme, Scheme
from hfcount.quantization.settings import Settings, texts


@dataclass(frozen=True, slots=True)
class Transposed(Layout):
    """A matrix (inputs, outputs)."""

    label = "EETQ int8"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        return [
            PackedTensor(".weight", (inputs, outputs), ("I8",)),
            PackedTensor(".weight_scales", (outputs,), ("F16",)),
        ]


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: eetq`."""
    skipped = texts(settings, "modules_to_not_convert")
    return ExclusionScheme("eetq", Transposed(), Matcher(skipped, "transformers") if skipped else None)
