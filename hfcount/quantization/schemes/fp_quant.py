"""FP-Quant: rotated weights in MXFP4 or NVFP4, or as they were, and two matrices of the rotation with each module."""

from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import ExclusionScheme, Scheme
from hfcount.quantization.settings import Settings, number, texts, word

_GROUPS = {"mxfp4": 32, "nvfp4": 16}


@dataclass(frozen=True, slots=True)
class Rotated(Layout):
    """Two weights a byte, or with `kept` the name of a weight that is as wide as before.

    Args:
        group: the weights that share a scale.
        rotation: rows of the matrices.
    """

    group: int
    rotation: int
    kept: str = ""

    @property
    def label(self) -> str:
        kind = next(name for name, size in _GROUPS.items() if size == self.group)
        return f"FP-Quant {kind.upper()}" + (", not packed" if self.kept else "")

    @property
    def grain(self) -> tuple[int, int]:
        return 1, max(self.rotation, self.group)

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        small = [PackedTensor(".qweight", (outputs, inputs // 2), ("U8",))]
        code = "F8_E8M0" if self.group == _GROUPS["mxfp4"] else "F8_E4M3"
        small.append(PackedTensor(".scales", (outputs, ceil_div(inputs, self.group)), ("U8",), code=code))
        square = (self.rotation, self.rotation)
        return [
            *([PackedTensor(self.kept, (outputs, inputs))] if self.kept else small),
            *(PackedTensor(f".{kind}_global_scale", (1,)) for kind in ("weight", "act")),
            *(PackedTensor(f".{way}_hadamard_matrix", square) for way in ("forward", "backward")),
        ]


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: fp_quant`.

    Raises:
        Unmodelled: it has another format.
    """
    form = word(settings, "forward_dtype", default="nvfp4")
    if form not in _GROUPS:
        raise Unmodelled(f"forward_dtype {form}")
    kept = ".weight" if settings.get("store_master_weights") is True else ""
    kept = kept or (".dqweight" if settings.get("pseudoquantization") is True else "")
    rotation = number(settings, "hadamard_group_size", default=_GROUPS[form]) or _GROUPS[form]
    skipped = texts(settings, "modules_to_not_convert")
    listed = Matcher(("lm_head",) if skipped is None else skipped, "transformers")
    return ExclusionScheme("fp_quant", Rotated(_GROUPS[form], rotation, kept), listed)
