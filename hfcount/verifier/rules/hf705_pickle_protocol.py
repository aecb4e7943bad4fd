"""HF705: pickle protocol."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import TORCH
from hfcount.verifier.wording import listed


class PickleProtocol(Finding):
    """A pickled file has a protocol or opcodes that torch.load refuses by default, though its contents are plain.

    Args:
        opcodes: those that are refused.
        protocol: that of the pickle.
    """

    code = "HF705"
    name = "pickle-protocol"
    level = "error"
    why = "It was saved with another pickle_protocol than the default of torch.save, or by another library."
    remedy = "Load it with weights_only=False if you trust it, and save it again, with the default protocol."

    file: str
    opcodes: tuple[str, ...]
    protocol: int

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)}: its pickle has protocol {self.protocol} and opcodes that torch.load of {TORCH}"
            f" refuses by default (weights_only=True): {listed(self.opcodes[:5])}."
        )
