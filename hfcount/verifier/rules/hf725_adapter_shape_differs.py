"""HF725: adapter shape differs."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import PEFT
from hfcount.verifier.wording import agree, sides, some


class AdapterShapeDiffers(Finding):
    """A tensor of an adapter does not have the shape that its base needs."""

    code = "HF725"
    name = "adapter-shape-differs"
    level = "error"
    why = "It was trained on a base of another size."
    remedy = "Name the base that it was trained on with --base."

    expected: tuple[int, ...]
    observed: tuple[int, ...]

    @property
    def text(self) -> str:
        return (
            f"{plural(self.count, 'tensor')} of the adapter {agree(self.count, 'has', 'have')} another shape than the"
            f" base needs, such as {some(self.names[:1])}: expected {sides(self.expected)}, stored"
            f" {sides(self.observed)}. {PEFT} refuses to load it."
        )
