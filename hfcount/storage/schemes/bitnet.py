"""BitNet: four ternary weights a byte, with one scale."""

from dataclasses import dataclass

from hfcount.storage.schemes.layout import Layout, Part, Unmodelled, ceil_div
from hfcount.storage.schemes.matcher import Matcher
from hfcount.storage.schemes.scheme import Listed, Scheme
from hfcount.storage.schemes.settings import Settings, texts, word


@dataclass(frozen=True, slots=True)
class Ternary(Layout):
    """Rows packed four to a byte."""

    label = "BitNet's packed ternary weights"

    def parts(self, outputs: int, inputs: int) -> list[Part]:
        return [Part(".weight", (ceil_div(outputs, 4), inputs), ("U8",)), Part(".weight_scale", (1,))]


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: bitnet`.

    Raises:
        Unmodelled: its weights are dense, to be packed when they are loaded.
    """
    if word(settings, "quantization_mode", default="offline") != "offline":
        raise Unmodelled(f"quantization_mode {word(settings, 'quantization_mode')}")
    skipped = texts(settings, "modules_to_not_convert")
    return Listed("bitnet", Ternary(), Matcher(skipped, "transformers") if skipped else None)
