"""BitNet: four ternary weights a byte, with one scale."""

from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import DENSE, Choice, ExclusionScheme, Module, Scheme
from hfcount.quantization.settings import Settings, texts, word


@dataclass(frozen=True, slots=True)
class Ternary(Layout):
    """Rows packed four to a byte; `normed` if each module normalises its inputs."""

    normed: bool = False
    label = "BitNet's packed ternary weights"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        norm = [PackedTensor(".rms_norm.weight", (inputs,))] if self.normed else []
        return [
            PackedTensor(".weight", (ceil_div(outputs, 4), inputs), ("U8",)),
            PackedTensor(".weight_scale", (1,)),
            *norm,
        ]


class Online(Scheme):
    """Weights that are stored dense, and made ternary when they are used."""

    name = "bitnet"
    layouts = ()

    def choose(self, module: Module) -> Choice:
        return DENSE


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: bitnet`.

    Raises:
        Unmodelled: its weights are dense, with norms of their own.
    """
    normed = settings.get("use_rms_norm") is True
    mode = word(settings, "quantization_mode", default="offline")
    if mode == "online" and not normed:
        return Online()
    if mode != "offline":
        raise Unmodelled(f"quantization_mode {mode}")
    skipped = texts(settings, "modules_to_not_convert")
    return ExclusionScheme("bitnet", Ternary(normed), Matcher(skipped, "transformers") if skipped else None)
