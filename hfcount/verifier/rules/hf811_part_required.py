"""HF811: part required."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class PartRequired(Finding):
    """The class of a pipeline needs a part that model_index.json does not list, or lists without a class.

    Args:
        kind: the class of the pipeline; part: the name of the part.
        instead: what model_index.json has of it, as a sentence goes on.
    """

    code = "HF811"
    name = "part-required"
    level = "error"
    why = "An edit by hand, a pipeline that was saved without a part, or the class of another pipeline."
    remedy = "Save the pipeline again with this part, or name a pipeline class that does not need it."

    kind: str
    part: str
    instead: str

    @property
    def text(self) -> str:
        kind, part = printable(self.kind, 60), printable(self.part)
        return f"{kind} needs {part}, but model_index.json {self.instead}. {DIFFUSERS} does not load the pipeline."
