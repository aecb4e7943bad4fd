"""GPTQ (AutoGPTQ, GPTQModel, optimum, AutoRound), which packs rows of integers into 32-bit words."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import gcd
from typing import Literal

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div, divided
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import DENSE, Choice, Module, Scheme, usual
from hfcount.quantization.settings import Settings, bits, group, table, word

_FORMATS = ("gptq", "gptq_v2", "gptq_p", "gptq_marlin", "")
_HALVES = ("F16", "BF16")
_BLOCK = 32
"""Weights that fill whole words, of any number of bits."""

WIDTHS = range(2, 9)
"""Bits of a weight."""

Order = Literal["needed", "stored", "absent"]
"""Whether the index of the groups cannot be computed, is stored though it can, or is not stored."""

_SKIPPED = "AutoRound leaves a matrix dense whose sizes are no multiples of 32"
_UNSURE = (
    "its sizes are no multiples of 32, where AutoRound leaves a matrix dense, AutoGPTQ rounds the number of words down"
    " and GPTQModel rounds it up, and nothing says which of them wrote this"
)


@dataclass(frozen=True, slots=True)
class Gptq(Layout):
    """Integers packed along the inputs.

    Args:
        floor: whether words are counted for whole blocks of 32 inputs and outputs alone; None if nothing says so.
        shown: whether only the shapes tell.
    """

    bits: int
    group: int | None
    order: Order = "stored"
    floor: bool | None = None
    shown: bool = False

    @property
    def label(self) -> str:
        text = f"GPTQ of {self.bits} bits, {f'groups of {self.group}' if self.group else 'one group a row'}"
        return f"{text}, words for whole blocks of {_BLOCK}" if self.shown else text

    @property
    def bias(self) -> PackedTensor:
        usual = self.order != "absent" and not self.floor
        return PackedTensor(".bias", (), _HALVES, False, usual=usual)  # zeros where the architecture has none

    @property
    def grain(self) -> tuple[int, int]:
        return _BLOCK // gcd(_BLOCK, self.bits), self.group or 1

    @property
    def readings(self) -> "tuple[Layout, ...]":
        return (replace(self, floor=True, shown=True),) if self.floor is None else ()

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        groups = divided(inputs, self.group)
        rows, words = (
            size // _BLOCK * self.bits if self.floor else ceil_div(size * self.bits, 32) for size in (inputs, outputs)
        )
        return [
            PackedTensor(".qweight", (rows, outputs), ("I32",)),
            PackedTensor(".qzeros", (groups, words), ("I32",)),
            PackedTensor(".scales", (groups, outputs), _HALVES),
            PackedTensor(".g_idx", (inputs,), ("I32",), self.order == "needed", usual=self.order != "absent"),
        ]


class Blocks(Scheme):
    """Packs the linear maps of the decoder's layers, by name where a list or an override says so.

    Args:
        only: the modules of a layer that are packed; None for all.
        excluded, overrides: the modules that are dense, and layouts of others.
        head: whether the head is packed.
        writer: the tool that wrote it, in lower case; empty if nothing says which.
    """

    def __init__(
        self,
        name: str,
        layout: Layout,
        only: Matcher | None = None,
        excluded: Matcher | None = None,
        overrides: list[tuple[Matcher, Layout | None]] | None = None,
        *,
        head: bool = False,
        writer: str = "",
    ) -> None:
        self.name, self._layout, self._only, self._head, self._writer = name, layout, only, head, writer
        self._overrides = [*([(excluded, None)] if excluded else []), *(overrides or [])]
        self.matchers = (*(matcher for matcher, _ in self._overrides), *([only] if only else []))

    @property
    def layouts(self) -> Iterable[Layout]:
        return [self._layout, *(layout for _, layout in self._overrides if layout)]

    def choose(self, module: Module) -> Choice:
        for matcher, layout in self._overrides:
            if matcher.find(module.name):
                return self._unsure(Choice(layout), module)
        choice = usual(module, self._layout, head=self._head, towers=False)
        if choice.layout and self._only and not self._only.find(module.name):
            return DENSE
        return self._unsure(choice, module)

    def _unsure(self, choice: Choice, module: Module) -> Choice:
        """The choice, where the sizes of a module are such that tools differ."""
        odd = module.outputs % _BLOCK or module.inputs % _BLOCK
        if not odd or not isinstance(choice.layout, Gptq) or choice.why or self._writer not in ("", "auto-round"):
            return choice
        return choice._replace(why=_SKIPPED if self._writer else _UNSURE)


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: gptq`, of the config or of quantize_config.json.

    Raises:
        Unmodelled: its format or its bits are not described.
    """
    form = word(settings, "checkpoint_format", "format")
    if form not in _FORMATS:
        raise Unmodelled(f"checkpoint_format {form}")
    writer = _writer(settings)
    layout = _layout(settings, writer, None)
    skipped, overrides = [], list[tuple[Matcher, Layout | None]]()
    for pattern, values in table(settings, "dynamic").items():
        sign, _, regex = pattern.partition(":") if pattern[:2] in ("-:", "+:") else ("+", "", pattern)
        if sign == "-":
            skipped.append(regex)
        elif isinstance(values, dict):
            overrides.append((Matcher([regex], "regex"), _layout({**settings, **values}, writer, layout)))
    within = settings.get("modules_in_block_to_quantize")
    lists = [entry if isinstance(entry, list) else [entry] for entry in within] if isinstance(within, list) else []
    only = [name for names in lists for name in names if isinstance(name, str)]
    excluded = Matcher(skipped, "regex") if skipped else None
    head = settings.get("lm_head") is True
    within_only = Matcher(only, "transformers") if only else None
    return Blocks("gptq", layout, within_only, excluded, overrides, head=head, writer=writer)


def _layout(settings: Settings, writer: str, base: Gptq | None) -> Gptq:
    """The layout that settings, or those of an override, ask for."""
    width = bits(settings, "bits", "w_bit", default=base.bits if base else None, among=WIDTHS)
    size = group(settings, "group_size", "q_group_size", default=base.group if base else None)
    # The order of a permutation is in the index alone; GPTQModel and optimum always store one, and read it.
    ordered = (settings.get("desc_act") is True and size is not None) or writer == "gptqmodel"
    return Gptq(width, size, "needed" if ordered else "stored", writer == "auto-round" if writer else None)


def _writer(settings: Settings) -> str:
    """The tool that the settings say has written a checkpoint; empty if they do not."""
    if "autoround_version" in settings or word(settings, "provider").replace("_", "-") in ("auto-round", "autoround"):
        return "auto-round"
    quantizer = table(settings, "meta").get("quantizer")
    tools = [str(tool).lower() for tool in (quantizer if isinstance(quantizer, list) else [quantizer])]
    return "gptqmodel" if any(tool.startswith(("gptqmodel", "optimum")) for tool in tools) else ""
