"""HF814: parts do not fit."""

from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class PartsDoNotFit(Finding):
    """Two parts of a pipeline have sizes that do not fit each other, by their configs.

    Args:
        statement: both keys, both values, and what the pipeline makes of them.
        source: where diffusers has the rule.
    """

    code = "HF814"
    name = "parts-do-not-fit"
    level = "error"
    why = "A part was exchanged for one of another pipeline, or a config was edited by hand."
    remedy = "Use the part that belongs to this pipeline."

    statement: str
    source: str

    @property
    def text(self) -> str:
        return f"{self.statement} {DIFFUSERS} loads the pipeline, which fails at its first step ({self.source})."
