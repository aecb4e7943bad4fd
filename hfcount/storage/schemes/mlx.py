"""MLX: all linear maps and lookup tables, in groups along the inputs."""

from collections.abc import Iterable
from dataclasses import dataclass

from hfcount.storage.schemes.layout import Layout, Part, Unmodelled, ceil_div
from hfcount.storage.schemes.matcher import Matcher
from hfcount.storage.schemes.scheme import ROUTER, TOWER, TOWERS, Choice, Module, Scheme
from hfcount.storage.schemes.settings import Settings, bits, group, word

_SHARED = ("bits", "group_size", "mode", "quant_method")
_GROUPS = {"affine": 64, "mxfp4": 32, "mxfp8": 32, "nvfp4": 16}


@dataclass(frozen=True, slots=True)
class Grouped(Layout):
    """Integers with scales and biases (affine), or small floats with 8-bit scales, in 32-bit words."""

    bits: int
    group: int
    mode: str = "affine"

    @property
    def label(self) -> str:
        return f"MLX {self.mode} of {self.bits} bits, groups of {self.group}"

    def parts(self, outputs: int, inputs: int) -> list[Part]:
        groups = (outputs, ceil_div(inputs, self.group))
        weight = Part(".weight", (outputs, ceil_div(inputs * self.bits, 32)), ("U32",))
        if self.mode == "affine":
            return [weight, Part(".scales", groups), Part(".biases", groups)]
        return [weight, Part(".scales", groups, ("U8",))]


class Mlx(Scheme):
    """`layout` for all, and for each path in `overrides` its own; None for dense."""

    packs_experts = False
    text_alone = True
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

    def __init__(self, name: str, layout: Grouped, overrides: dict[Grouped | None, list[str]]) -> None:
        self.name, self._layout = name, layout
        self._overrides = [(Matcher(paths, "path"), own) for own, paths in overrides.items()]
        self.matchers = tuple(matcher for matcher, _ in self._overrides)

    @property
    def layouts(self) -> Iterable[Layout]:
        return dict.fromkeys([self._layout, *(own for _, own in self._overrides if own)])

    def choose(self, module: Module) -> Choice:
        for matcher, own in self._overrides:
            if matcher.find(module.name):
                return Choice(own)
        if module.component == "router":
            return ROUTER  # the model's own rule leaves some dense
        if module.inputs % self._layout.group:
            return Choice(None, "its rows are no whole number of groups")
        if module.component in TOWERS:
            return TOWER
        return Choice(self._layout)


def read(settings: Settings) -> Scheme:
    """The scheme of MLX's `quantization`.

    Raises:
        Unmodelled: its mode or its bits are not described.
    """
    own = _layout(settings, None)
    overrides: dict[Grouped | None, list[str]] = {}
    for path, value in settings.items():
        if path not in _SHARED and isinstance(value, dict | bool):
            layout = None if value is False else _layout(value, own) if isinstance(value, dict) else own
            overrides.setdefault(layout, []).append(path)
    return Mlx(f"MLX {own.mode}", own, overrides)


def _layout(settings: Settings, whole: Grouped | None) -> Grouped:
    mode = word(settings, "mode", default=whole.mode if whole else "affine")
    if mode not in _GROUPS:
        raise Unmodelled(f"mode {mode}")
    width = bits(
        settings, "bits", default=whole.bits if whole else 8 if mode == "mxfp8" else 4, among=(2, 3, 4, 5, 6, 8)
    )
    size = group(settings, "group_size", default=whole.group if whole else _GROUPS[mode])
    if not size:
        raise Unmodelled("group_size -1")
    return Grouped(width, size, mode)
