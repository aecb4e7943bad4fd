"""Base class of the findings about values: which tensors, and the index of the first bad value."""

from collections.abc import Sequence
from math import prod

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import short, sides


class ValueFinding(Finding):
    """A finding about values that were read.

    Args:
        tensor: the name of the first; `tensors` has all, and `count` is how many they are.
        index: of the value in the first tensor; None where it is about the whole tensor.
        shape: of the first tensor, in elements.
        values: how many such values the first tensor has.
        file: that of the first tensor.
    """

    tensor: str
    index: tuple[int, ...] | None = None
    shape: tuple[int, ...] = ()
    values: int = 0
    file: str

    @property
    def place(self) -> str:
        """`model.norm.weight[3] in model-00002-of-00002.safetensors`."""
        index = "" if not self.index else f"[{', '.join(map(str, self.index))}]"
        return f"{short(self.tensor)}{index} in {short(self.file)}"

    @property
    def others(self) -> str:
        """The sentence about further tensors."""
        return f" The same in {plural(self.count - 1, 'more tensor')}." if self.count > 1 else ""

    @property
    def of(self) -> str:
        """`of its 4,096×1,024 elements`."""
        return f"of its {sides(self.shape)} elements" if prod(self.shape) > 1 else "its only element"


def index_of(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The index of the element of that number, as they are stored."""
    index = []
    for size in reversed(shape):
        number, place = divmod(number, size)
        index.append(place)
    return tuple(reversed(index))


class RangeFinding(ValueFinding):
    """A finding about a part of a tensor.

    Args:
        begin, end: the bytes of the part in the file; the last is not in it.
        first_row, last_row: the rows of the tensor that the part is in, from 0; None of a tensor with one dimension.
    """

    begin: int
    end: int
    first_row: int | None = None
    last_row: int | None = None

    @property
    def where(self) -> str:
        """`rows 64 to 127, bytes 4,096 to 8,191 of the file`."""
        bytes_ = f"bytes {self.begin:,} to {self.end - 1:,} of the file"
        if self.first_row is None or self.last_row is None:
            return bytes_
        rows = (
            f"row {self.first_row:,}"
            if self.first_row == self.last_row
            else f"rows {self.first_row:,} to {self.last_row:,}"
        )
        return f"{rows}, {bytes_}"
