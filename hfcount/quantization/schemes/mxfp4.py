"""MXFP4 of gpt-oss: stacks of experts as blocks of 32 4-bit floats with a power of two each."""

from collections.abc import Iterable
from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import DENSE, Choice, Module, Scheme
from hfcount.quantization.settings import Settings, texts


@dataclass(frozen=True, slots=True)
class Blocks(Layout):
    """One matrix of a stack; the stack's names end in `_blocks` and `_scales`."""

    label = "MXFP4 blocks"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        rows = (outputs, inputs // 32)
        return [PackedTensor("_blocks", (*rows, 16), ("U8",)), PackedTensor("_scales", rows, ("U8",), code="F8_E8M0")]


class Mxfp4(Scheme):
    """Packs stacks of experts, and no other module."""

    name = "mxfp4"
    packs_experts = False

    def __init__(self, excluded: Matcher) -> None:
        self._excluded = excluded
        self.matchers = (excluded,)

    @property
    def layouts(self) -> Iterable[Layout]:
        return (Blocks(),)

    def choose(self, module: Module) -> Choice:
        stacked = module.component == "experts" and not module.linear
        return Choice(Blocks()) if stacked and not self._excluded.matches(module.name) else DENSE


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: mxfp4`."""
    return Mxfp4(Matcher(texts(settings, "modules_to_not_convert") or (), "transformers"))
