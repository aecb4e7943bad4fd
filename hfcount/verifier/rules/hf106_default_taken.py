"""HF106: default taken."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import listed


class DefaultTaken(Finding):
    """config.json lacks a key that the architecture needs, and the default of transformers was counted with.

    Args:
        observed: the keys with their defaults.
        version: that of transformers.
    """

    code = "HF106"
    name = "default-taken"
    level = "note"
    why = "A config stripped by hand, or one that leaves out what agrees with the default."
    remedy = "Write the keys into config.json: another reader, or a later version, may take another default."
    informational = True

    observed: tuple[str, ...]
    version: str

    @property
    def text(self) -> str:
        return (
            f"config.json lacks keys that {printable(self.subject)} needs; counted with the defaults of transformers"
            f" {self.version}: {listed(self.observed)}."
        )
