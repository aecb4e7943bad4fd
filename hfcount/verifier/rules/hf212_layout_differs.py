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
    remedy = "Load and save again with transformers, for whoever does not convert it."
    divides = True


class OtherLayout(LayoutDiffers):
    """Tensors that stand for others, such as packed experts.

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
        stands = (
            f"{agree(self.count, 'stands', 'stand')} for {plural(self.apart, 'tensor')} of {printable(self.subject)}"
        )
        return (
            f"{stored} {stands}, such as {short(self.observed)} for {printable(self.expected)}. {NEWEST} converts one"
            f" layout to the other when it loads; {OLDER} reads only that of its own class."
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
        shapes = f"{sides(self.observed)} for {sides(self.expected)}"
        return (
            f"{stored} the last two dimensions swapped, such as {short(self.names[0])}: {shapes}. {NEWEST}"
            " takes either."
        )


class TiedAlone(LayoutDiffers):
    """Of a tied pair only the one is stored that is not usual."""

    expected: str
    observed: str

    @property
    def text(self) -> str:
        more = self.count - 1
        rest = f" {plural(more, 'more tensor')} {agree(more, 'is', 'are')} stored so." if more else ""
        return (
            f"{short(self.observed)} is stored and {printable(self.expected)} is not, which the config ties to it."
            f" {NEWEST} takes whichever is there.{rest}"
        )
