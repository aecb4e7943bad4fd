"""HF212: layout differs."""

from hfcount.mapper.loader_differences import OLDER
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import NEWEST
from hfcount.verifier.wording import agree, short, sides


class LayoutDiffers(Finding):
    """Tensors are stored in a layout that transformers converts when it loads."""

    code = "HF212"
    name = "layout-differs"
    level = "note"
    why = (
        "transformers packs experts into one tensor, some publishers transpose them, and some store only the head"
        " of a tied pair."
    )
    remedy = f"For a library that does not convert the layout, load and save again with {NEWEST}."
    divides = True


class OtherLayout(LayoutDiffers):
    """Tensors that hold several others, such as packed experts.

    Args:
        apart: how many tensors of the config they stand for.
    """

    expected: str
    observed: str
    parameters: int
    apart: int

    @property
    def text(self) -> str:
        stored = f"{plural(self.count, 'tensor')} of {plural(self.parameters, 'element')}"
        stands = f"{agree(self.count, 'holds', 'hold')} {plural(self.apart, 'tensor')} of {printable(self.subject)}"
        return (
            f"{stored} {stands}, such as {short(self.observed)} for {printable(self.expected)}. {NEWEST} converts one"
            f" layout to the other when it loads; {OLDER} reads only the layout of its own class."
        )


class Transposed(LayoutDiffers):
    """Tensors whose last two dimensions are swapped."""

    expected: tuple[int, ...]
    observed: tuple[int, ...]
    parameters: int

    @property
    def text(self) -> str:
        stored = (
            f"{plural(self.count, 'tensor')} of {plural(self.parameters, 'element')} {agree(self.count, 'has', 'have')}"
        )
        shapes = f"{sides(self.observed)} instead of {sides(self.expected)}"
        return (
            f"{stored} the last two dimensions swapped, such as {short(self.names[0])}: {shapes}. {NEWEST} loads both."
        )


class TiedAlone(LayoutDiffers):
    """Of two tied tensors, only the one that is usually left out is stored."""

    expected: str
    observed: str

    @property
    def text(self) -> str:
        more = self.count - 1
        rest = f" {plural(more, 'more tensor')} likewise." if more else ""
        return (
            f"{short(self.observed)} is stored, but not {printable(self.expected)}; the config ties them."
            f" {NEWEST} loads either.{rest}"
        )
