"""The tensors that store a packed linear map: suffixes, shapes and dtypes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

SCALE_DTYPES = ("F32", "BF16", "F8_E8M0", "U8")
"""Dtypes of block scales, the most common first; the last two hold powers of two."""


class PackedTensor(NamedTuple):
    """One stored tensor of a packed module.

    Args:
        suffix: the end of the name after the module, with its separator: `.weight_scale`, `_blocks`.
        shape: in elements; a scalar may be stored as one element, and one element as a scalar.
        dtypes: allowed dtypes, the most common first; empty for the model's own floating-point dtype.
        needed: whether it is always there.
        slack: by how many elements the first extent may be smaller, where the contents decide it.
        usual: whether writers store it where nothing says so, beside all modules or beside none.
        each: whether a stack has such a scalar for each of its matrices.
        code: the dtype of floats whose codes whole numbers are; empty where they are numbers, or `dtypes` names it.
    """

    suffix: str
    shape: tuple[int, ...]
    dtypes: tuple[str, ...] = ()
    needed: bool = True
    slack: int = 0
    usual: bool = True
    each: bool = False
    code: str = ""

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether a tensor of this shape is this part."""
        full = self.shape
        if shape == full or {shape, full} == {(), (1,)}:
            return True
        return bool(self.slack) and len(shape) == len(full) == 1 and full[0] - self.slack <= shape[0] <= full[0]


@dataclass(frozen=True, slots=True)
class Layout(ABC):
    """One way to store a linear map; two modules are packed alike if their layouts are equal."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The name in messages, with the numbers that its shapes depend on."""

    @abstractmethod
    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        """The tensors that store a matrix (outputs, inputs), the packed weight first."""

    @property
    def bias(self) -> PackedTensor | None:
        """A bias that is written even where the architecture has none, without its shape; None if there is none."""
        return None

    @property
    def grain(self) -> tuple[int, int]:
        """Outputs and inputs that belong together, so that no rank may hold a part of them; 0 for all of a row."""
        return 1, 1

    @property
    def readings(self) -> "tuple[Layout, ...]":
        """Layouts of other tools for the same settings and suffixes, which differ in shapes."""
        return ()

    def alike(self, other: "Layout | None") -> bool:
        """Whether one is taken for the other."""
        return self == other

    def suffixes(self) -> tuple[frozenset[str], frozenset[str]]:
        """The suffixes that are always there, and all."""
        parts = self.parts(4096, 4096)
        return frozenset(part.suffix for part in parts if part.needed), frozenset(part.suffix for part in parts)


class Unmodelled(Exception):
    """Settings whose layout is not described; the text says which."""


def ceil_div(size: int, by: int) -> int:
    """The quotient, rounded up."""
    return -(-int(size) // int(by))


def divided(sizes: int, group: int | None) -> int:
    """The number of groups that a row of `sizes` elements has; one if there are no groups."""
    return 1 if group is None or group <= 0 else ceil_div(sizes, group)
