"""HF821: unknown part class."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class UnknownPartClass(Finding):
    """model_index.json names a library or a class for a part that diffusers does not load.

    Args:
        part: the name of the part; by: its class and library.
        lacks: what there is not, as a sentence goes on.
    """

    code = "HF821"
    name = "unknown-part-class"
    level = "error"
    why = (
        "A misspelt name, the library of another part, a class that later versions no longer have, or code in the repo."
    )
    remedy = "Correct the entry, or save the pipeline again with these versions."

    part: str
    by: str
    lacks: str

    @property
    def text(self) -> str:
        end = "Whether a later version loads it is not known." if self.severity == "note" else ""
        text = f"model_index.json lists {printable(self.part)} as {self.by}, but {self.lacks}."
        return f"{text} {end or f'{DIFFUSERS} does not load the pipeline.'}"
