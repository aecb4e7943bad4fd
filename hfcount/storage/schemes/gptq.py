"""GPTQ (AutoGPTQ, GPTQModel, optimum) and AutoRound, which packs rows of integers into 32-bit words."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import gcd

from hfcount.storage.schemes import awq
from hfcount.storage.schemes.layout import Layout, Part, Unmodelled, ceil_div, divided
from hfcount.storage.schemes.matcher import Matcher, Style
from hfcount.storage.schemes.scheme import DENSE, Choice, Module, Scheme, usual
from hfcount.storage.schemes.settings import Settings, bits, group, table, texts, word

_FORMATS = ("gptq", "gptq_v2", "gptq_marlin", "")
_HALVES = ("F16", "BF16")


@dataclass(frozen=True, slots=True)
class Gptq(Layout):
    """Integers packed along the inputs; `ordered` if an index of the groups is always stored."""

    bits: int
    group: int | None
    ordered: bool = True

    @property
    def label(self) -> str:
        return f"GPTQ of {self.bits} bits, {f'groups of {self.group}' if self.group else 'one group a row'}"

    @property
    def bias(self) -> Part:
        return Part(".bias", (), _HALVES, False)  # zeros where the architecture has none

    def alike(self, other: Layout | None) -> bool:
        # Loaders compute an index that is not stored.
        return isinstance(other, Gptq) and (self.bits, self.group) == (other.bits, other.group)

    @property
    def grain(self) -> tuple[int, int]:
        return 32 // gcd(32, self.bits), self.group or 1

    def parts(self, outputs: int, inputs: int) -> list[Part]:
        groups = divided(inputs, self.group)
        return [
            Part(".qweight", (ceil_div(inputs * self.bits, 32), outputs), ("I32",)),
            Part(".qzeros", (groups, ceil_div(outputs * self.bits, 32)), ("I32",)),
            Part(".scales", (groups, outputs), _HALVES),
            Part(".g_idx", (inputs,), ("I32",), self.ordered, usual=self.ordered),
        ]


class Blocks(Scheme):
    """Packs the linear maps of the decoder's layers, by name where a list or an override says so.

    Args:
        only: the modules of a layer that are packed; None for all.
        excluded, overrides: the modules that are dense, and layouts of others.
        head: whether the head is packed.
    """

    def __init__(
        self,
        name: str,
        layout: Layout,
        only: Matcher | None = None,
        excluded: Matcher | None = None,
        overrides: list[tuple[Matcher, Layout | None]] | None = None,
        head: bool = False,
    ) -> None:
        self.name, self._layout, self._only, self._head = name, layout, only, head
        self._overrides = [*([(excluded, None)] if excluded else []), *(overrides or [])]
        self.matchers = (*(matcher for matcher, _ in self._overrides), *([only] if only else []))

    @property
    def layouts(self) -> Iterable[Layout]:
        found = [self._layout, *(layout for _, layout in self._overrides if layout)]
        return [*found, *(replace(one, ordered=not one.ordered) for one in found if isinstance(one, Gptq))]

    def choose(self, module: Module) -> Choice:
        for matcher, layout in self._overrides:
            if matcher.find(module.name):
                return Choice(layout)
        found = usual(module, self._layout, head=self._head, towers=False)
        if found.layout and self._only and not self._only.find(module.name):
            return DENSE
        return found


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: gptq`, of the config or of quantize_config.json.

    Raises:
        Unmodelled: its format or its bits are not described.
    """
    form = word(settings, "checkpoint_format", "format")
    if form not in _FORMATS:
        raise Unmodelled(f"checkpoint_format {form}")
    layout = Gptq(bits(settings, "bits", "w_bit", among=(2, 3, 4, 8)), group(settings, "group_size", "q_group_size"))
    skipped, overrides = [], list[tuple[Matcher, Layout | None]]()
    for pattern, values in table(settings, "dynamic").items():
        sign, _, regex = pattern.partition(":") if pattern[:2] in ("-:", "+:") else ("+", "", pattern)
        if sign == "-":
            skipped.append(regex)
        elif isinstance(values, dict):
            own = Gptq(
                bits(values, "bits", default=layout.bits, among=(2, 3, 4, 8)),
                group(values, "group_size", default=layout.group),
            )
            overrides.append((Matcher([regex], "regex"), own))
    within = settings.get("modules_in_block_to_quantize")
    lists = [one if isinstance(one, list) else [one] for one in within] if isinstance(within, list) else []
    only = [name for names in lists for name in names if isinstance(name, str)]
    excluded = Matcher(skipped, "regex") if skipped else None
    return Blocks(
        "gptq",
        layout,
        Matcher(only, "transformers") if only else None,
        excluded,
        overrides,
        settings.get("lm_head") is True,
    )


def read_auto_round(settings: Settings) -> Scheme:
    """The scheme of `quant_method: auto-round`, which stores as GPTQ or as AWQ.

    Raises:
        Unmodelled: its packing is not described.
    """
    packing = word(settings, "packing_format", default="auto_round:auto_gptq").removeprefix("auto_round:")
    width = bits(settings, "bits", among=(2, 3, 4, 8))
    size = group(settings, "group_size", default=128)
    if word(settings, "data_type", default="int") != "int":
        raise Unmodelled(f"data_type {word(settings, 'data_type')}")

    def layout(width: int, size: int | None) -> Layout:
        if "awq" in packing:
            return awq.Gemm(size, width)
        if packing not in ("auto_gptq", "gptq", "auto_round"):
            raise Unmodelled(f"packing_format {packing}")
        return Gptq(width, size, False)

    overrides = list[tuple[Matcher, Layout | None]]()
    for name, values in table(settings, "extra_config").items():
        if isinstance(values, dict):
            own = values.get("bits", width)
            style: Style = "regex" if set(name) & set("*\\+|[(") else "path"
            dense = isinstance(own, int) and own >= 16
            kept = (
                None
                if dense
                else layout(bits(values, "bits", default=width), group(values, "group_size", default=size))
            )
            overrides.append((Matcher([name], style), kept))
    blocks = texts(settings, "block_name_to_quantize") or ()
    if len(blocks) == 1 and "," in blocks[0]:
        blocks = tuple(one.strip() for one in blocks[0].split(","))
    only = Matcher(blocks, "transformers") if blocks else None
    return Blocks("auto-round", layout(width, size), only, None, overrides)
