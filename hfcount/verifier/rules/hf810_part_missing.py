"""HF810: part missing."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class PartMissing(Finding):
    """model_index.json lists a part of a pipeline, but its file is missing.

    Args:
        part: the name of the part; by: its class and library.
        lacks: what is not there, as a sentence goes on.
    """

    code = "HF810"
    name = "part-missing"
    level = "error"
    why = "A folder was not uploaded or downloaded, or was renamed."
    remedy = "Upload or download the part again."

    part: str
    by: str
    lacks: str

    @property
    def text(self) -> str:
        part = printable(self.part)
        return f"model_index.json lists {part} ({self.by}), but {self.lacks}. {DIFFUSERS} does not load the pipeline."
