"""HF813: unknown pipeline class."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class UnknownPipelineClass(Finding):
    """model_index.json names a pipeline class that diffusers does not have, as far as hfcount knows.

    Args:
        kind: the class.
        whose: where it is said to be from, as a sentence goes on.
    """

    code = "HF813"
    name = "unknown-pipeline-class"
    level = "note"
    why = "Code in the repo, a class that is newer than hfcount, or a misspelt name."
    remedy = "Check _class_name in model_index.json, or update hfcount."
    proof = "lost"

    kind: str
    whose: str

    @property
    def text(self) -> str:
        return (
            f"model_index.json names the class {printable(self.kind, 60)}, {self.whose}: hfcount does not know"
            " which parts it needs and whether they fit each other."
        )
