"""FBGEMM: FP8 with a scale a row."""

from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import ExclusionScheme, Scheme
from hfcount.quantization.settings import Settings, texts


@dataclass(frozen=True, slots=True)
class Rows(Layout):
    """The scales are a column; `kept` is the dtype of the weights, F8_E4M3 or I8."""

    kept: str = "F8_E4M3"

    @property
    def label(self) -> str:
        return f"{'8-bit integers' if self.kept == 'I8' else 'FP8'} with a scale a row"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        return [
            PackedTensor(".weight", (outputs, inputs), (self.kept,)),
            PackedTensor(".weight_scale", (outputs, 1), ("F32",)),
        ]


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: fbgemm_fp8`."""
    skipped = texts(settings, "modules_to_not_convert")
    return ExclusionScheme("fbgemm_fp8", Rows(), Matcher(skipped, "transformers") if skipped else None)
