"""HF301: shape differs."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, short, sides


class ShapeDiffers(Finding):
    """A stored tensor has another shape than the config describes."""

    code = "HF301"
    name = "shape-differs"
    level = "error"
    why = "A config of another size, a resized vocabulary, or weights saved in parts."
    remedy = "Correct the config, or convert again."
    advises = False

    expected: tuple[int, ...]
    observed: tuple[int, ...]

    @property
    def text(self) -> str:
        have = agree(self.count, "has", "have")
        differ = f"{plural(self.count, 'tensor')} of {printable(self.subject)} {have} the wrong shape"
        shapes = f"expected {sides(self.expected)}, stored {sides(self.observed)}"
        return f"{differ}, such as {short(self.names[0])}: {shapes}."
