"""HQQ: groups of a matrix as rows, packed along the rows, with a dozen small tensors that say how."""

from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import Choice, InMemory, Module, Scheme
from hfcount.quantization.settings import Settings, bits, group, table, texts

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
    """Groups along the inputs as rows, or as columns (axis 0). `dtype` is the model's, whose name is stored as text."""

    bits: int
    group: int | None
    dtype: str = "float16"
    columns: bool = False

    @property
    def label(self) -> str:
        return f"HQQ of {self.bits} bits, {f'groups of {self.group}' if self.group else 'one group a row'}"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        wide = self.group or inputs
        groups = ceil_div(outputs * inputs, wide)
        rows = ceil_div(wide if self.columns else groups, 10 if self.bits == 3 else _A_BYTE[self.bits])
        packed_shape, scales = ((rows, groups), (1, groups)) if self.columns else ((rows, wide), (groups, 1))
        dtype = "I32" if self.bits == 3 else "U8"
        small = [(".shape", (2,), "I64"), *((f".{name}", (), "I32") for name in ("nbits", "group_size", "axis"))]
        names = {"packing": "4bit_u8", "unpack_view_dtype": "torch.uint8", "compute_dtype": f"torch.{self.dtype}"}
        small += [(f".{name}", (len(text),), "U8") for name, text in names.items()]
        small += [(f".{name}", (), "U8") for name in _FLAGS]
        return [
            PackedTensor(".W_q", packed_shape, (dtype,)),
            PackedTensor(".scale", scales),
            PackedTensor(".zero", scales),
            *(PackedTensor(suffix, shape, (code,), suffix in (".shape", ".nbits")) for suffix, shape, code in small),
        ]


class Kinds(InMemory):
    """Modules by what their names are without numbers, each kind with a layout of its own, the rest dense."""

    def __init__(self, kinds: dict[str, Rows], excluded: Matcher) -> None:
        first, *others = dict.fromkeys(kinds.values())
        super().__init__("hqq", first, excluded, *others)
        self._kinds = kinds

    def choose(self, module: Module) -> Choice:
        kind = ".".join(
            part for part in module.name.split(".") if not part.isdigit() and part not in ("model", "layers")
        )
        choice, layout = super().choose(module), self._kinds.get(kind)
        return choice._replace(layout=layout) if choice.layout else choice


def read(settings: Settings, dtype: str | None) -> Scheme:
    """The scheme of `quant_method: hqq`.

    Raises:
        Unmodelled: its bits or its groups are not described.
    """
    inner = table(settings, "quant_config")
    excluded = Matcher(texts(settings, "skip_modules") or ("lm_head",), "transformers")
    if "weight_quant_params" in inner:
        return InMemory("hqq", _rows(inner, dtype), excluded)
    kinds = {name: _rows(table(inner, name), dtype) for name in inner if table(inner, name)}
    if not kinds:
        raise Unmodelled("no quant_config")
    return Kinds(kinds, excluded)


def _rows(settings: Settings, dtype: str | None) -> Rows:
    weights = table(settings, "weight_quant_params")
    size, columns = group(weights, "group_size"), weights.get("axis", 1) == 0
    if columns and size is None:
        raise Unmodelled("axis 0 without groups")
    return Rows(bits(weights, "nbits", among=(1, 2, 3, 4, 5, 6, 8)), size, dtype or "float16", columns)
