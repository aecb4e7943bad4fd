"""MLX: all linear maps and lookup tables, in groups along the inputs."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import ROUTER, TOWER, TOWERS, Choice, Module, Scheme
from hfcount.quantization.settings import Contradiction, Settings, against, bits, group, word
from hfcount.text import printable

_SHARED = ("bits", "group_size", "mode", "quant_method")
_USUAL = {"affine": (4, 64), "mxfp4": (4, 32), "mxfp8": (8, 32), "nvfp4": (4, 16)}
"""Bits and elements of a group, by mode: where nothing else is said, and for small floats always."""

_SMALL = {mode: usual for mode, usual in _USUAL.items() if mode != "affine"}

_CODES = {"mxfp4": "F8_E8M0", "mxfp8": "F8_E8M0", "nvfp4": "F8_E4M3"}
"""Dtypes of scales of small floats."""

_WIDTHS = (2, 3, 4, 5, 6, 8)
_GROUPS = (32, 64, 128)
_ONE_SCALE = "global_scale"


@dataclass(frozen=True, slots=True)
class Grouped(Layout):
    """Integers with scales and biases (affine), or small floats with 8-bit scales, in 32-bit words.

    Args:
        whole: whether a stack of experts has one more scale for each of them.
        inferred: whether readers infer bits, groups and mode from the tensors, as mlx-lm 0.32 does where no entry of a
            module says them (infer_quant_config in mlx_lm/utils.py).
    """

    bits: int
    group: int
    mode: str = "affine"
    whole: bool = False
    inferred: bool = False

    @property
    def label(self) -> str:
        return f"MLX {self.mode} of {self.bits} bits, groups of {self.group}"

    @property
    def readings(self) -> "tuple[Layout, ...]":
        if not self.inferred:
            return ()
        # Where there are no biases, bits and groups tell small floats from integers that have lost theirs.
        small = (
            () if self.mode == "affine" else (Grouped(*usual, mode, inferred=True) for mode, usual in _SMALL.items())
        )
        affine = (replace(self, bits=bits, group=group, mode="affine") for bits in _WIDTHS for group in _GROUPS)
        return tuple(other for other in (*small, *affine) if other != self)

    def alike(self, other: Layout | None) -> bool:
        return self == other or (self.inferred and isinstance(other, Grouped))

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        groups = (outputs, ceil_div(inputs, self.group))
        weight = PackedTensor(".weight", (outputs, ceil_div(inputs * self.bits, 32)), ("U32",))
        if self.mode == "affine":
            return [weight, PackedTensor(".scales", groups), PackedTensor(".biases", groups)]
        scales = [weight, PackedTensor(".scales", groups, ("U8",), code=_CODES[self.mode])]
        return [*scales, PackedTensor(f".{_ONE_SCALE}", (), ("F32",), each=True)] if self.whole else scales


_ROUTER = Grouped(8, 64)


class Mlx(Scheme):
    """`layout` for all, and for each path in `overrides` its own; None for dense."""

    packs_experts = False
    text_alone = True
    stack = ("switch_mlp",)  # mlx-lm 0.32: models/switch_layers.py, and `sanitize` of each mixture
    renames = (
        (
            ("model.language_model.", "language_model.model."),
            ("lm_head.", "language_model.lm_head."),
            ("model.visual.", "vision_tower."),
            ("model.", ""),
        ),
        (
            ("model.", "language_model.model."),
            ("lm_head.", "language_model.lm_head."),
            ("visual.", "vision_tower."),
        ),
        (("transformer.", "model."),),
    )

    def __init__(
        self, name: str, layout: Grouped, overrides: dict[Grouped | None, list[str]], modes: Iterable[Grouped] = ()
    ) -> None:
        self.name, self._layout, self._modes = name, layout, tuple(modes)
        self._overrides = [(Matcher(paths, "path"), override) for override, paths in overrides.items()]
        self.matchers = tuple(matcher for matcher, _ in self._overrides)

    @property
    def layouts(self) -> Iterable[Layout]:
        return dict.fromkeys([self._layout, *(layout for _, layout in self._overrides if layout), *self._modes])

    def choose(self, module: Module) -> Choice:
        for matcher, layout in self._overrides:
            if matcher.find(module.name):
                return Choice(layout)
        if module.component == "router":
            # By rules of single models: most ask for 8 bits, some for none, and what is no linear map stays dense.
            return ROUTER._replace(shown=True, likely=_ROUTER if module.plain else None)
        if module.inputs % self._layout.group:
            # Readers that infer the groups take it packed as well, in groups that divide its rows.
            return Choice(None, "its rows are no whole number of groups", either=not module.inputs % min(_GROUPS))
        if module.component in TOWERS:
            return TOWER._replace(shown=True)
        # Of what no entry names, mlx-lm packs what has scales, as rules for conversions do not leave an entry.
        return Choice(self._layout, shown=True)


def read(settings: Settings) -> Scheme:
    """The scheme of MLX's `quantization`.

    Raises:
        Unmodelled: its mode, its bits or its groups are not described.
    """
    base = replace(_layout(settings), inferred=True)
    contradictions = _contradictions(settings)
    overrides: dict[Grouped | None, list[str]] = {}
    for path, value in settings.items():
        if path not in _SHARED and isinstance(value, dict | bool):
            # An entry is all that mlx-lm reads for its module: what it does not say is as usual, not as above.
            layout = _layout(value) if isinstance(value, dict) else replace(base, inferred=False) if value else None
            overrides.setdefault(layout, []).append(path)
            if isinstance(value, dict):
                contradictions += _contradictions(value, f"{printable(path, 80)}.")
    # Where no mode is said, the dtype of the scales tells small floats from integers.
    modes = [] if "mode" in settings else [Grouped(*_USUAL[mode], mode, inferred=True) for mode in _CODES]
    scheme = Mlx(f"MLX {base.mode}", base, overrides, modes)
    scheme.contradictions = contradictions
    return scheme


def _layout(settings: Settings) -> Grouped:
    """The layout that settings, or those of one module, ask for."""
    mode = word(settings, "mode", default="affine")
    if mode not in _USUAL:
        raise Unmodelled(f"mode {mode}")
    width, size = _USUAL[mode]
    if mode == "affine":
        width = bits(settings, "bits", default=width, among=_WIDTHS)
        given = group(settings, "group_size", default=size)
        if not given:
            raise Unmodelled("group_size -1")
        size = given
    return Grouped(width, size, mode, settings.get(_ONE_SCALE) is True)


def _contradictions(settings: Settings, place: str = "") -> list[Contradiction]:
    """Numbers that the mode of small floats rules out: mlx-lm refuses them."""
    mode = word(settings, "mode", default="affine")
    if mode == "affine":
        return []
    width, size = _USUAL[mode]
    of_bits = against(settings, "bits", width, f"mode {mode}", place)
    return of_bits + against(settings, "group_size", size, f"mode {mode}", place)
