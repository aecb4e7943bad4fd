"""FP8 of transformers, DeepSeek, Qwen and others: a scale for each block of a weight, or one for all of it."""

from dataclasses import dataclass

from hfcount.storage.schemes.layout import SCALE_DTYPES, Layout, Part, Unmodelled, ceil_div
from hfcount.storage.schemes.matcher import Matcher
from hfcount.storage.schemes.scheme import Listed, Scheme
from hfcount.storage.schemes.settings import Settings, pair, texts, word

_MISNAMED = {"self_attn.indexers_proj": "self_attn.indexer.weights_proj"}
"""Modules that published lists name and that do not exist, and the dense ones that are meant."""


@dataclass(frozen=True, slots=True)
class Fp8(Layout):
    """F8_E4M3 with a scale per block (rows, columns) of a matrix; `scale` is the suffix of the scales."""

    block: tuple[int, int] | None
    static: bool = False
    scale: str = ".weight_scale_inv"

    @property
    def label(self) -> str:
        return f"FP8 in blocks of {self.block[0]}×{self.block[1]}" if self.block else "FP8 with one scale a tensor"

    def parts(self, outputs: int, inputs: int) -> list[Part]:
        grid = (ceil_div(outputs, self.block[0]), ceil_div(inputs, self.block[1])) if self.block else ()
        parts = [Part(".weight", (outputs, inputs), ("F8_E4M3",)), Part(self.scale, grid, SCALE_DTYPES)]
        return [*parts, Part(".activation_scale", (), ("F32", "BF16"))] if self.static else parts


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: fp8`.

    Raises:
        Unmodelled: its blocks are not two sizes, or it has another 8-bit format.
    """
    if (form := word(settings, "fmt", default="e4m3")) not in ("e4m3", "float8_e4m3fn"):
        raise Unmodelled(f"fmt {form}")
    listed = texts(settings, "modules_to_not_convert", "ignored_layers")
    named = None if listed is None else [_meant(name) for name in listed]
    static = word(settings, "activation_scheme") == "static"
    own = Fp8(pair(settings, "weight_block_size"), static)
    others = Fp8(own.block, not static), Fp8(own.block, static, ".scale")
    return Listed("fp8", own, None if named is None else Matcher(named, "transformers"), *others)


def _meant(name: str) -> str:
    for wrong, right in _MISNAMED.items():
        if name.endswith(wrong):
            return name.removesuffix(wrong) + right
    return name
