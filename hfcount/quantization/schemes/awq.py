"""AWQ (AutoAWQ, llm-compressor's older exports): 4-bit integers packed along the outputs."""

from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div, divided
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import DENSE, Choice, ExclusionScheme, Module, Scheme
from hfcount.quantization.settings import Settings, bits, group, table, texts, word

_HALVES = ("F16", "BF16")
_LARGE = 128
_WIDER = {64: 2, 32: 4}  # words of zeros that belong together, by the size of groups


@dataclass(frozen=True, slots=True)
class Gemm(Layout):
    """The layout of the `gemm` version."""

    group: int | None
    bits: int = 4

    @property
    def label(self) -> str:
        return f"AWQ of {self.bits} bits, {f'groups of {self.group}' if self.group else 'one group a row'}"

    @property
    def grain(self) -> tuple[int, int]:
        return 32 // self.bits, self.group or 0

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        groups, words = divided(inputs, self.group), ceil_div(outputs * self.bits, 32)
        return [
            PackedTensor(".qweight", (inputs, words), ("I32",)),
            PackedTensor(".qzeros", (groups, words), ("I32",)),
            PackedTensor(".scales", (groups, outputs), _HALVES),
        ]


@dataclass(frozen=True, slots=True)
class Gemv(Layout):
    """The layouts of the versions `gemv` and, with `fast`, `gemv_fast`: packed along the inputs.

    Zeros and scales have room for eight groups at a time, and for small groups for more.
    """

    group: int
    fast: bool

    @property
    def label(self) -> str:
        return f"AWQ {'gemv_fast' if self.fast else 'gemv'} of 4 bits, groups of {self.group}"

    @property
    def grain(self) -> tuple[int, int]:
        return 1, self.group

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        times = _WIDER.get(self.group, 1)
        words = ceil_div(ceil_div(inputs // self.group, 8), times) * times
        if self.fast:
            grid = (8 * words, outputs)
            return [
                PackedTensor(".qweight", (outputs // 4, inputs), ("I16",)),
                PackedTensor(".qzeros", grid, _HALVES),
                PackedTensor(".scales", grid, _HALVES),
            ]
        return [
            PackedTensor(".qweight", (outputs, inputs // 8), ("I32",)),
            PackedTensor(".qzeros", (outputs, words), ("I32",)),
            PackedTensor(".scales", (outputs, 8 * words), _HALVES),
        ]


class Awq(ExclusionScheme):
    """The head stays dense whatever the list says.

    AutoAWQ takes an entry for any part of a name, and transformers for its beginning or end. What only the first
    excludes may be stored either way.
    """

    heads = False

    def __init__(self, layout: Layout, listed: tuple[str, ...], skipped: Matcher | None, head: bool) -> None:
        super().__init__("awq", layout, Matcher(listed, "transformers") if listed else None, towers=False)
        self._parts, self._skipped, self._head = Matcher(listed, "substring"), skipped, head
        self.matchers = (*self.matchers, self._parts, *([skipped] if skipped else []))

    def choose(self, module: Module) -> Choice:
        if self._skipped and self._skipped.find(module.name):
            return DENSE
        if self._head and module.component == "lm_head":
            return Choice(self.layout)
        choice = super().choose(module)
        return Choice(None, either=True) if choice.layout and self._parts.matches(module.name) else choice


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: awq`.

    Raises:
        Unmodelled: its version, its bits or its groups are not described.
    """
    version = word(settings, "version", "format", default="gemm")
    size = group(settings, "group_size", "q_group_size", default=128)
    width = bits(settings, "bits", "w_bit", default=4, among=(4,))
    layout: Layout
    if version in ("gemm", "awq"):
        layout = Gemm(size, width)
    elif version in ("gemv", "gemv_fast", "llm-awq") and size and (size in _WIDER or size >= _LARGE):
        layout = Gemv(size, version != "gemv")
    else:
        raise Unmodelled(f"version {version}")
    patterns = table(settings, "dynamic")  # of GPTQModel
    if any(not pattern.startswith("-:") for pattern in patterns):
        raise Unmodelled("dynamic")
    skipped = Matcher([pattern[2:] for pattern in patterns], "regex") if patterns else None
    listed = texts(settings, "modules_to_not_convert") or ()
    return Awq(layout, listed, skipped, settings.get("lm_head") is True)
