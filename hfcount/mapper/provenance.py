"""Where a number is from: the key of a config, or what was made of several."""

from hfcount.tree.dims import Dim


class Sourced(int):
    """A number that knows where it is from: the key of a config, or what was made of several."""

    source: str

    @classmethod
    def read(cls, value: int, source: str) -> "Sourced":
        """`value`, which `source` gives."""
        number = cls(value)
        number.source = source
        return number

    def __floordiv__(self, other: int) -> "Sourced":
        if isinstance(other, Dim) or not isinstance(other, int):
            return NotImplemented  # a symbol is worth more than a source
        return Sourced.read(int(self) // int(other), f"{_grouped(self.source)} / {_grouped(origin(other))}")

    def __add__(self, other: int) -> "Sourced":
        if isinstance(other, Dim) or not isinstance(other, int):
            return NotImplemented  # a symbol is worth more than a source
        source = f"{self.source} + {_grouped(origin(other))}" if other else self.source
        return Sourced.read(int(self) + int(other), source)

    def __mul__(self, other: int) -> "Sourced":
        if isinstance(other, Dim) or not isinstance(other, int):
            return NotImplemented  # a symbol is worth more than a source
        return Sourced.read(int(self) * int(other), f"{_grouped(self.source)} · {_grouped(origin(other))}")

    def __rmul__(self, other: int) -> "Sourced":
        if isinstance(other, Dim) or not isinstance(other, int):
            return NotImplemented  # a symbol is worth more than a source
        return Sourced.read(int(self) * int(other), f"{_grouped(origin(other))} · {_grouped(self.source)}")


def origin(value: int) -> str:
    """Where a number is from: the key of a config, or else the number itself."""
    return str(getattr(value, "source", "") or f"{int(value):,}")


def _grouped(source: str) -> str:
    return f"({source})" if " " in source else source
