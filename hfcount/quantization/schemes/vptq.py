"""VPTQ: vectors of outputs as entries of codebooks, whose sizes the settings give for every module."""

from collections.abc import Iterable
from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled, ceil_div
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import DENSE, Choice, Module, Scheme
from hfcount.quantization.settings import Settings, number, table, texts
from hfcount.text import printable

_HALVES = ("F16", "BF16")
_WORD = 32
_MOST = 1 << 20


@dataclass(frozen=True, slots=True)
class Vectors(Layout):
    """Packed indices of `length` outputs each.

    Args:
        books, size: the number of codebooks, and the inputs of each.
        length, entries, residual: of a codebook, and the entries of the one for what is left; none if that is 0.
        outliers: (length, entries, inputs) of the codebook for outlying inputs; None if there is none.
        floats: whether indices of outliers are stored as floating-point numbers of the same bits.
        normal, permuted: whether inputs are scaled and shifted, and permuted.
    """

    books: int
    size: int
    length: int
    entries: int
    residual: int
    outliers: tuple[int, int, int] | None
    floats: bool
    normal: bool
    permuted: bool

    @property
    def label(self) -> str:
        return f"VPTQ, {self.entries} vectors of {self.length}" + (f", then {self.residual}" if self.residual else "")

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        width = self.entries.bit_length() - 1 + (self.residual.bit_length() - 1 if self.residual else 0)
        words = ceil_div(self.size * width, _WORD)
        parts = [
            PackedTensor(".indices", (self.books, ceil_div(outputs, self.length), words), ("I32",)),
            PackedTensor(".centroids.weight", (self.books, self.entries * self.length), _HALVES),
        ]
        if self.residual:
            parts.append(PackedTensor(".res_centroids.weight", (self.books, self.residual * self.length), _HALVES))
        if self.outliers:
            length, entries, some = self.outliers
            kinds = ("F16",) if self.floats else ("I16", "U16")
            parts.append(PackedTensor(".outlier_indices", (1, ceil_div(outputs, length), some), kinds))
            parts.append(PackedTensor(".outlier_centroids.weight", (1, entries * length), _HALVES))
        if self.permuted:
            parts.append(PackedTensor(".perm", (inputs,), ("I16", "U16", "I64")))
        if self.normal:
            parts += [
                PackedTensor(".weight_scale", (inputs,), _HALVES),
                PackedTensor(".weight_bias", (inputs,), _HALVES),
            ]
        return parts


class Vptq(Scheme):
    """Packs the modules that the settings name, and no other."""

    name = "vptq"

    def __init__(self, named: dict[Layout, list[str]], excluded: Matcher | None) -> None:
        self._named = [(Matcher(names, "path"), layout) for layout, names in named.items()]
        self._excluded = excluded
        self.matchers = (*(matcher for matcher, _ in self._named), *([excluded] if excluded else []))

    @property
    def layouts(self) -> Iterable[Layout]:
        return [layout for _, layout in self._named]

    def choose(self, module: Module) -> Choice:
        if self._excluded and self._excluded.matches(module.name):
            return DENSE
        return next((Choice(layout) for matcher, layout in self._named if matcher.matches(module.name)), DENSE)


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: vptq`.

    Raises:
        Unmodelled: it names no modules, or one whose indices are not packed.
    """
    named: dict[Layout, list[str]] = {}
    for name in table(settings, "config_for_layers"):
        named.setdefault(_layout(table(table(settings, "config_for_layers"), name)), []).append(name)
    if not named:
        raise Unmodelled("no config_for_layers")
    skipped = texts(settings, "modules_to_not_convert")
    return Vptq(named, Matcher(skipped, "transformers") if skipped else None)


def _layout(entry: Settings) -> Layout:
    lengths, entries, residuals = (_both(entry, key) for key in ("vector_lens", "num_centroids", "num_res_centroids"))
    books, size = number(entry, "group_num", default=1) or 0, number(entry, "group_size") or 0
    powers = [power for power in (entries[1], max(residuals[1], 0)) if power]
    if entry.get("is_indice_packed") is False or books < 1 or size < 1 or lengths[1] < 1:
        raise Unmodelled("indices that are not packed")
    if entries[1] < 1 or residuals[0] > 0 or any(power & (power - 1) for power in powers):
        raise Unmodelled(f"num_centroids {entries}, num_res_centroids {residuals}")
    outliers = (
        (lengths[0], entries[0], number(entry, "outlier_size") or 0) if lengths[0] > 1 and entries[0] > 0 else None
    )
    normal, permuted = (entry.get(key) is not False for key in ("enable_norm", "enable_perm"))
    floats = entry.get("indices_as_float") is True
    return Vectors(books, size, lengths[1], entries[1], max(residuals[1], 0), outliers, floats, normal, permuted)


def _both(entry: Settings, key: str) -> tuple[int, int]:
    """The values for outliers and for the rest; -1 for none."""
    value = entry.get(key)
    if not isinstance(value, list) or len(value) != 2 or any(type(size) is not int or size > _MOST for size in value):
        raise Unmodelled(f"{key} {printable(str(value), 40)}")
    return value[0], value[1]
