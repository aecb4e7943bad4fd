"""HF810: part missing."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class PartMissing(Finding):
    """model_index.json lists a part of a pipeline, and the file that it is loaded from is not there.

    Args:
        part: the name of the part; by: its class and library.
        lacks: what is not there, as a sentence goes on.
    """

    code = "HF810"
    name = "part-missing"
    level = "error"
    why = "An upload or download that left out a folder, or a folder that was renamed."
    remedy = "Upload or download the part again."

    part: str
    by: str
    lacks: str

    @property
    def text(self) -> str:
        part = printable(self.part)
        return f"model_index.json lists {part} ({self.by}), and {self.lacks}. {DIFFUSERS} does not load the pipeline."
