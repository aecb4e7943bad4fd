"""HF701: pickle calls."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import TORCH
from hfcount.verifier.wording import agree, listed

_SHOWN = 5  # names that a message repeats


class PickleCalls(Finding):
    """A pickled file names functions or classes beyond those that torch.load takes by default, and may run them; a note
    where it lies beside files of safetensors that are taken in its place.

    Args:
        called: the functions and classes.
    """

    code = "HF701"
    name = "pickle-calls"
    level = "error"
    why = "Objects of a training that were saved with the weights, or code that is to run on the machine that loads it."
    remedy = "Do not load it with weights_only=False; ask its author for safetensors."
    divides = True

    file: str
    called: tuple[str, ...]

    @property
    def text(self) -> str:
        many, more = len(self.called), len(self.called) - _SHOWN
        names = listed(self.called[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
        kind = agree(many, "function or class", "functions or classes")
        return (
            f"{printable(self.file)}: its pickle names {many:,} {kind} beyond tensors, which loading it without"
            f" weights_only would run: {names}. torch.load of {TORCH} refuses it by default (weights_only=True)."
            " Nothing of it was run here."
        )
