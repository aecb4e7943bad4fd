"""Metal of transformers: integers in 32-bit words along the inputs, with a scale and a bias for each group."""

from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import ExclusionScheme, Scheme
from hfcount.quantization.settings import Settings, bits, group, texts

_WIDTHS = (2, 4, 8)


@dataclass(frozen=True, slots=True)
class Words(Layout):
    """The biases of groups are called qbiases, since a bias of the layer may stand beside them."""

    bits: int
    group: int

    @property
    def label(self) -> str:
        return f"Metal {self.bits}-bit integers in groups of {self.group}"

    @property
    def grain(self) -> tuple[int, int]:
        return 1, self.group

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        groups = (outputs, inputs // self.group)
        weight = PackedTensor(".weight", (outputs, inputs // (32 // self.bits)), ("U32",))
        return [weight, PackedTensor(".scales", groups), PackedTensor(".qbiases", groups)]


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: metal`.

    Source: transformers 5.24, integrations/metal_quantization.py, MetalLinear.

    Raises:
        Unmodelled: its integers have another width than the library takes.
    """
    width, size = bits(settings, "bits", default=4, among=_WIDTHS), group(settings, "group_size", default=64)
    if size is None:
        raise Unmodelled("group_size below 1")
    skipped = texts(settings, "modules_to_not_convert")
    return ExclusionScheme("metal", Words(width, size), Matcher(skipped, "transformers") if skipped else None)
