"""bitsandbytes: 4-bit floats in blocks of 64, and 8-bit integers with a scale a row."""

from dataclasses import dataclass

from hfcount.formats.dtypes import code, width
from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import InMemory, Scheme
from hfcount.quantization.settings import Settings, texts, word

_BLOCK, _NESTED = 64, 256  # weights of one absolute maximum, and maxima of one of theirs
_DIGITS = 15, 22
"""Fewest and most characters of a printed double."""


@dataclass(frozen=True, slots=True)
class Float4(Layout):
    """nf4 or fp4, with the JSON of its state; with `double`, the maxima are quantised, too.

    Args:
        kind: nf4 or fp4.
        storage: the dtype that holds the packed bytes.
        dtype: what the dense weight was, as the state names it.
    """

    kind: str
    storage: str = "U8"
    double: bool = False
    dtype: str = "float16"

    @property
    def label(self) -> str:
        return f"bitsandbytes {self.kind}" + (" with double quantisation" if self.double else "")

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        size = outputs * inputs
        blocks = ceil_div(size, _BLOCK)
        packed = ceil_div(size, 2 * width(self.storage))
        state = (
            f'{{"quant_type": "{self.kind}", "blocksize": {_BLOCK}, "dtype": "{self.dtype}",'
            f' "shape": [{int(outputs)}, {int(inputs)}]}}'
        )
        nested = f', "nested_blocksize": {_NESTED}, "nested_dtype": "float32", "nested_offset": '
        length = len(state) + (len(nested) + _DIGITS[1] if self.double else 0)
        json = PackedTensor(
            f".weight.quant_state.bitsandbytes__{self.kind}",
            (length,),
            ("U8",),
            slack=_DIGITS[1] - _DIGITS[0] if self.double else 0,
        )
        parts = [
            PackedTensor(".weight", (packed, 1), (self.storage,)),
            PackedTensor(".weight.absmax", (blocks,), ("U8" if self.double else "F32",)),
            PackedTensor(".weight.quant_map", (16,), ("F32",)),
            json,
        ]
        if self.double:
            parts.append(PackedTensor(".weight.nested_absmax", (ceil_div(blocks, _NESTED),), ("F32",)))
            parts.append(PackedTensor(".weight.nested_quant_map", (256,), ("F32",)))
        return parts


@dataclass(frozen=True, slots=True)
class LlmInt8(Layout):
    """LLM.int8(): integers with a scale a row."""

    label = "bitsandbytes int8"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        return [
            PackedTensor(".weight", (outputs, inputs), ("I8",)),
            PackedTensor(".SCB", (outputs,), ("F32",)),
            PackedTensor(".weight_format", (), ("U8",), False),
        ]


class Exact(InMemory):
    """A scheme for linear maps of no class of their own, and for transformers' Conv1D.

    Source: transformers 5.23, integrations/bitsandbytes.py, replace_with_bnb_linear.
    """

    exact = True
    packs_turned = True


def read(settings: Settings, dtype: str | None) -> Scheme:
    """The scheme of `quant_method: bitsandbytes`; `dtype` is the model's.

    Raises:
        Unmodelled: it announces neither 4 nor 8 bits.
    """
    layout: Layout
    if settings.get("load_in_4bit") is True or settings.get("_load_in_4bit") is True:
        kind = word(settings, "bnb_4bit_quant_type", default="fp4")
        storage = code(word(settings, "bnb_4bit_quant_storage").removeprefix("torch.")) or "U8"
        if kind not in ("nf4", "fp4"):
            raise Unmodelled(f"bnb_4bit_quant_type {kind}")
        double = settings.get("bnb_4bit_use_double_quant") is True
        name = dtype if dtype in ("bfloat16", "float32") else "float16"
        kinds = dict.fromkeys((kind, "nf4", "fp4"))
        layout, *others = (Float4(form, storage, twice, name) for form in kinds for twice in (double, not double))
    elif settings.get("load_in_8bit") is True or settings.get("_load_in_8bit") is True:
        layout, others = LlmInt8(), []
    else:
        raise Unmodelled("neither load_in_4bit nor load_in_8bit")
    skipped = texts(settings, "llm_int8_skip_modules")
    return Exact("bitsandbytes", layout, Matcher(skipped, "transformers") if skipped else None, *others)
