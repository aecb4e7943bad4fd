"""HF120: beyond probes."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import listed


class BeyondProbes(Finding):
    """The type is recorded, not described, and a size of config.json is outside of what was probed for the record.

    Args:
        observed: the sizes, each with what was probed.
        version: of the library that the type is recorded from.
    """

    code = "HF120"
    name = "beyond-probes"
    level = "note"
    why = "A model that is smaller or larger than all that were built for the record of its type."
    remedy = "Take names and shapes from transformers itself: --derive-with transformers."
    proof = "lost"

    observed: tuple[str, ...]
    version: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.subject)} is recorded from {self.version}, not described, and the record does not cover"
            f" {listed(self.observed)}. The count is by expressions that hold for all that was probed."
        )
