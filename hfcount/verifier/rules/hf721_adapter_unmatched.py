"""HF721: adapter unmatched."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import PEFT
from hfcount.verifier.wording import agree, some


class AdapterUnmatched(Finding):
    """Tensors or targets of an adapter match no module of its base.

    Args:
        reason: why PEFT refuses it, or what it is instead; empty if only some tensors are unmatched.
        beyond: the first layer that the base does not have, where that is the cause; else empty.
    """

    code = "HF721"
    name = "adapter-unmatched"
    level = "error"
    why = "It was trained on another base, or with a library version that names modules differently."
    remedy = "Name the base that it was trained on with --base."

    reason: str = ""
    beyond: str = ""

    @property
    def text(self) -> str:
        if self.reason:
            return f"The adapter does not fit its base: {self.reason}."
        beyond = f" The base has no layer {self.beyond}." if self.beyond else ""
        return (
            f"{plural(self.count, 'tensor')} of the adapter {agree(self.count, 'matches', 'match')} no module that it"
            f" adapts: {some(self.names)}. {PEFT} loads the rest and ignores these without a warning.{beyond}"
        )
