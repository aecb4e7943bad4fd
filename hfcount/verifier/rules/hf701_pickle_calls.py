"""HF701: pickle calls."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import TORCH
from hfcount.verifier.wording import agree, listed

_SHOWN = 5  # names that a message repeats


class PickleCalls(Finding):
    """A pickled file names functions or classes that torch.load refuses by default, and may run them; a note where
    safetensors files are beside it, which are loaded instead.

    Args:
        called: the functions and classes.
    """

    code = "HF701"
    name = "pickle-calls"
    level = "error"
    why = "Training objects that were saved with the weights, or code that shall run on the machine that loads it."
    remedy = "Do not load it with weights_only=False; ask its author for safetensors."
    divides = True

    file: str
    called: tuple[str, ...]

    @property
    def text(self) -> str:
        many, more = len(self.called), len(self.called) - _SHOWN
        names = listed(self.called[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
        kind = agree(many, "function or class that is", "functions or classes that are")
        return (
            f"{printable(self.file)}: its pickle names {many:,} {kind} not for tensors: {names}. Loading it"
            f" with weights_only=False runs them. torch.load of {TORCH} refuses it by default (weights_only=True)."
            " hfcount ran nothing of it."
        )
