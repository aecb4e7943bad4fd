"""HF106: default taken."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import listed


class DefaultTaken(Finding):
    """config.json lacks a key that the architecture needs, so hfcount used the default of transformers.

    Args:
        observed: the keys with their defaults.
        version: that of transformers.
    """

    code = "HF106"
    name = "default-taken"
    level = "note"
    why = "A config stripped by hand, or saved without the keys that equal the default."
    remedy = "Write the keys into config.json: another library, or a later version, may have another default."
    informational = True

    observed: tuple[str, ...]
    version: str

    @property
    def text(self) -> str:
        return (
            f"config.json lacks keys that {printable(self.subject)} needs. The defaults of transformers"
            f" {self.version} were used: {listed(self.observed)}."
        )
