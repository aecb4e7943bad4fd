"""HF812: part not taken."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class PartNotTaken(Finding):
    """model_index.json lists a part that the class of the pipeline does not use.

    Args:
        kind: the class of the pipeline; part: the name of the part; by: its class and library.
    """

    code = "HF812"
    name = "part-not-taken"
    level = "note"
    why = "The pipeline was saved by another class or version."
    remedy = "Remove it from model_index.json, or name the class that uses it."

    kind: str
    part: str
    by: str

    @property
    def text(self) -> str:
        return (
            f"model_index.json lists {printable(self.part)} ({self.by}), which {printable(self.kind, 60)} does not"
            f" use: {DIFFUSERS} warns and loads the pipeline without it. hfcount did not check it."
        )
