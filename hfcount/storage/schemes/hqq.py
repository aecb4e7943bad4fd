"""HQQ: groups of a matrix as rows, packed along the rows, with a dozen small tensors that say how."""

from dataclasses import dataclass

from hfcount.storage.schemes.layout import Layout, Part, Unmodelled, ceil_div
from hfcount.storage.schemes.matcher import Matcher
from hfcount.storage.schemes.scheme import InMemory, Scheme
from hfcount.storage.schemes.settings import Settings, bits, group, table, texts

_FLAGS = (
    "channel_wise",
    "encoded_state_dict",
    "offload_meta",
    "optimize",
    "quant_scale",
    "quant_zero",
    "round_zero",
    "stores_quant_config",
    "view_as_float",
)
_A_BYTE = {8: 1, 6: 1, 5: 1, 4: 2, 2: 4, 1: 8}
"""Rows that share a byte, by bits; of 3 bits, ten share a 32-bit word."""


@dataclass(frozen=True, slots=True)
class Rows(Layout):
    """`axis` 1: a row is a group along the inputs. `dtype` is the model's, whose name is stored as text."""

    bits: int
    group: int | None
    dtype: str = "float16"

    @property
    def label(self) -> str:
        return f"HQQ of {self.bits} bits, {f'groups of {self.group}' if self.group else 'one group a row'}"

    def parts(self, outputs: int, inputs: int) -> list[Part]:
        wide = self.group or inputs
        rows = ceil_div(outputs * inputs, wide)
        packed = ceil_div(rows, 10 if self.bits == 3 else _A_BYTE[self.bits])
        dtype = "I32" if self.bits == 3 else "U8"
        small = [(".shape", (2,), "I64"), *((f".{name}", (), "I32") for name in ("nbits", "group_size", "axis"))]
        names = {"packing": "4bit_u8", "unpack_view_dtype": "torch.uint8", "compute_dtype": f"torch.{self.dtype}"}
        small += [(f".{name}", (len(text),), "U8") for name, text in names.items()]
        small += [(f".{name}", (), "U8") for name in _FLAGS]
        return [
            Part(".W_q", (packed, wide), (dtype,)),
            Part(".scale", (rows, 1)),
            Part(".zero", (rows, 1)),
            *(Part(suffix, shape, (one,), suffix in (".shape", ".nbits")) for suffix, shape, one in small),
        ]


def read(settings: Settings, dtype: str | None) -> Scheme:
    """The scheme of `quant_method: hqq`.

    Raises:
        Unmodelled: its groups lie along the outputs, or modules have settings of their own.
    """
    inner = table(settings, "quant_config")
    weights = table(inner, "weight_quant_params")
    if not weights:
        raise Unmodelled("settings for each kind of module")
    if weights.get("axis", 1) != 1:
        raise Unmodelled(f"axis {weights.get('axis')}")
    layout = Rows(bits(weights, "nbits", among=(1, 2, 3, 4, 5, 6, 8)), group(weights, "group_size"), dtype or "float16")
    skipped = texts(settings, "skip_modules") or ("lm_head",)
    return InMemory("hqq", layout, Matcher(skipped, "transformers"))
