"""HF301: shape differs."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import short, sides


class ShapeDiffers(Finding):
    """A stored tensor does not have the shape that the config gives it."""

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
        differ = f"{plural(self.count, 'tensor')} of another shape than {printable(self.subject)} gives"
        shapes = f"expected {sides(self.expected)}, stored {sides(self.observed)}"
        return f"{differ}, such as {short(self.names[0])}: {shapes}."
