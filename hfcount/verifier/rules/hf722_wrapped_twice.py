"""HF722: wrapped twice."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import PEFT
from hfcount.verifier.wording import some


class WrappedTwice(Finding):
    """The names of an adapter's tensors begin with PEFT's prefix twice, or not at all.

    Args:
        bare: whether the prefix is missing.
    """

    code = "HF722"
    name = "wrapped-twice"
    level = "error"
    why = "It was saved from a model that was wrapped in PEFT twice, or its names were edited."
    remedy = "Rename the tensors so that each begins with base_model.model. once."

    bare: bool

    @property
    def text(self) -> str:
        if self.bare:
            then = (
                f"{PEFT} adds it for this type of base"
                if self.severity == "note"
                else f"{PEFT} matches none of them, so the adapter has no effect"
            )
            such = some(self.names[:1])
            return f"The names of all {plural(self.count, 'tensor')} lack base_model.model., such as {such}: {then}."
        return (
            f"The names of all {plural(self.count, 'tensor')} begin with base_model.model. more than once, such as"
            f" {some(self.names[:1])}: {PEFT} matches none of them, so the adapter has no effect."
        )
