"""FP8 of transformers, DeepSeek, Qwen and others, and SGLang's integers: a scale for each block of a weight, or one."""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace

from hfcount.quantization.layout import SCALE_DTYPES, Layout, PackedTensor, Unmodelled, ceil_div
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import Choice, ExclusionScheme, Module, Scheme
from hfcount.quantization.schemes.gptq import Blocks
from hfcount.quantization.settings import Settings, pair, table, texts, word

_SERVED = ("F32", "BF16", "F16")
_FUSED = "_scale_inv"
_MISNAMED = {"self_attn.indexers_proj": "self_attn.indexer.weights_proj"}
"""Modules that published lists name and that do not exist, and the dense ones that are meant."""


@dataclass(frozen=True, slots=True)
class Fp8(Layout):
    """F8_E4M3, or another `kept`, with a scale per block (rows, columns) of a matrix, per row, or one.

    `scale` and `inputs` are the suffixes of scales.
    """

    block: tuple[int, int] | None
    static: bool = False
    scale: str = ".weight_scale_inv"
    dtypes: tuple[str, ...] = SCALE_DTYPES
    inputs: str = ".activation_scale"
    rows: bool = False
    kept: str = "F8_E4M3"

    @property
    def label(self) -> str:
        per, what = "row" if self.rows else "tensor", "8-bit integers" if self.kept == "I8" else "FP8"
        text = (
            f"{what} in blocks of {self.block[0]}×{self.block[1]}" if self.block else f"{what} with one scale a {per}"
        )
        return f"{text}, and scales of activations" if self.static else text

    @property
    def grain(self) -> tuple[int, int]:
        return self.block or (1, 1)

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        grid: tuple[int, ...] = (outputs,) if self.rows else ()
        if self.block:
            grid = (ceil_div(outputs, self.block[0]), ceil_div(inputs, self.block[1]))
        parts = [PackedTensor(".weight", (outputs, inputs), (self.kept,)), PackedTensor(self.scale, grid, self.dtypes)]
        return [*parts, PackedTensor(self.inputs, (), ("F32", "BF16"))] if self.static else parts


@dataclass(frozen=True, slots=True)
class Fp4(Layout):
    """Two 4-bit floats a byte, with a power of two for 32 of them."""

    scale: str = ".scale"
    label = "FP4 in groups of 32"

    @property
    def grain(self) -> tuple[int, int]:
        return 1, 32

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        scales = PackedTensor(self.scale, (outputs, ceil_div(inputs, 32)), ("F8_E8M0", "U8", "F32"))
        return [PackedTensor(".weight", (outputs, inputs // 2), ("I8", "U8")), scales]


@dataclass(frozen=True, slots=True)
class Fused(Layout):
    """Experts of transformers 5.23, which keeps the scales of a layer's experts in one tensor.

    Args:
        layout: how a matrix is packed by itself.
        stacked: whether the matrices are in one tensor, too.
        beside: whether the scales then have the name of the matrices, with an ending.
    """

    layout: Fp8
    stacked: bool
    beside: bool = True

    @property
    def label(self) -> str:
        return f"{self.layout.label}, scales of experts as a stack"

    @property
    def grain(self) -> tuple[int, int]:
        return self.layout.grain

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        weight = PackedTensor("" if self.stacked else ".weight", (outputs, inputs), ("F8_E4M3",))
        if not self.stacked or not self.beside:
            return [weight]
        shape, dtypes = self.scale(outputs, inputs, 1)
        return [weight, PackedTensor(_FUSED, shape, dtypes)]

    def scale(self, outputs: int, inputs: int, fewest: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """The shape and dtypes of the scales of one matrix, which is of at least `fewest` matrices."""
        rows, columns = self.layout.block or (outputs, inputs)
        return (max(ceil_div(outputs, rows), fewest), ceil_div(inputs, columns)), self.layout.dtypes


class Finegrained(ExclusionScheme):
    """FP8 with experts of their own layout, if they have one."""

    fused_suffix = _FUSED
    exact = True

    def __init__(self, layout: Layout, experts: Layout | None, excluded: Matcher | None, *others: Layout) -> None:
        super().__init__("fp8", layout, excluded, *others)
        self._experts = experts

    @property
    def layouts(self) -> Iterable[Layout]:
        other = (Fp4(".weight_scale_inv"),) if isinstance(self._experts, Fp4) else ()
        return (*super().layouts, *((self._experts, *other) if self._experts else ()))

    def fused(self, stacked: bool, beside: bool = True) -> Scheme:
        scheme = copy(self)
        if isinstance(self.layout, Fp8):
            scheme._experts = Fused(self.layout, stacked, beside)
            scheme.packs_experts = not stacked
        return scheme

    def fused_scale(self, outputs: int, inputs: int, fewest: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
        assert isinstance(self.layout, Fp8)
        return Fused(self.layout, False).scale(outputs, inputs, fewest)

    def choose(self, module: Module) -> Choice:
        if module.component == "experts" and isinstance(self._experts, Fused) and self._experts.stacked:
            module = module._replace(linear=True)
        choice = super().choose(module)
        layout = self._experts if module.component == "experts" and choice.layout else None
        return choice._replace(layout=layout) if layout else choice


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: fp8`.

    Raises:
        Unmodelled: its blocks are not two sizes, or it has another 8-bit format.
    """
    if (form := word(settings, "fmt", default="e4m3")) not in ("e4m3", "float8_e4m3fn"):
        raise Unmodelled(f"fmt {form}")
    if "weight_scale_method" in settings:
        return _gptqmodel(settings)
    listed = texts(settings, "modules_to_not_convert", "ignored_layers")
    named = None if listed is None else [_meant(name) for name in listed]
    static = word(settings, "activation_scheme") == "static"
    layout = Fp8(pair(settings, "weight_block_size"), static)
    excluded = None if named is None else Matcher(named, "transformers")
    if word(settings, "expert_dtype") == "fp4":
        powers = Fp8(layout.block, static, ".scale", ("F8_E8M0", "U8", "F32"))
        return Finegrained(powers, Fp4(), excluded, layout)
    others: tuple[Layout, ...] = Fp8(layout.block, not static), Fp8(layout.block, static, ".scale")
    if layout.block is None and "ignored_layers" in settings:  # of AutoFP8 and Quark, for servers
        layout = Fp8(None, static, ".weight_scale", _SERVED, ".input_scale")
        others = (replace(layout, static=not static),)
    scheme = Finegrained(layout, None, excluded, *others)
    scheme.caches = bool(settings.get("kv_cache_scheme"))
    return scheme


def _gptqmodel(settings: Settings) -> Scheme:
    """FP8 of GPTQModel, which names modules as in its other methods."""
    form, method = word(settings, "format"), word(settings, "weight_scale_method")
    if form not in ("float8_e4m3fn", "") or method not in ("row", "tensor", "block"):
        raise Unmodelled(f"format {form}, weight_scale_method {method}")
    patterns = table(settings, "dynamic")
    if any(not pattern.startswith("-:") for pattern in patterns):
        raise Unmodelled("dynamic")
    skipped = Matcher([pattern[2:] for pattern in patterns], "regex") if patterns else None
    block = pair(settings, "weight_block_size") if method == "block" else None
    layout = Fp8(block, dtypes=("F32",), rows=method == "row")
    return Blocks("fp8", layout, None, skipped, head=settings.get("lm_head") is True, writer="gptqmodel")


def read_powers(settings: Settings) -> Scheme:
    """The scheme of `quant_method: mxfp8`: a power of two for 32 weights."""
    listed = texts(settings, "modules_to_not_convert", "ignored_layers")
    layout = Fp8((1, 32), False, ".weight_scale_inv", ("U8", "F8_E8M0"))
    return ExclusionScheme("mxfp8", layout, Matcher(listed, "transformers") if listed else None)


def read_integers(settings: Settings) -> Scheme:
    """The scheme of `quant_method: blockwise_int8`: 8-bit integers with a scale for each block.

    Source: SGLang 0.5.23, layers/quantization/blockwise_int8.py, BlockInt8LinearMethod.create_weights.

    Raises:
        Unmodelled: its blocks are not two sizes.
    """
    block, listed = pair(settings, "weight_block_size"), texts(settings, "ignored_layers")
    if block is None:
        raise Unmodelled("weight_block_size is absent")
    excluded = Matcher(listed, "transformers") if listed else None
    return Finegrained(Fp8(block, dtypes=("F32",), kept="I8"), None, excluded)


def _meant(name: str) -> str:
    for wrong, right in _MISNAMED.items():
        if name.endswith(wrong):
            return name.removesuffix(wrong) + right
    return name
