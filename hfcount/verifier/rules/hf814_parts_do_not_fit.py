"""HF814: parts do not fit."""

from hfcount.verifier.finding import Finding


class PartsDoNotFit(Finding):
    """Two parts of a pipeline have sizes that do not go together, by their configs.

    Args:
        statement: both keys, both values, and what the pipeline makes of them.
        source: where diffusers has the rule.
    """

    code = "HF814"
    name = "parts-do-not-fit"
    level = "error"
    why = "A part was exchanged for one of another pipeline, or a config was edited by hand."
    remedy = "Take the part that belongs to this pipeline."

    statement: str
    source: str

    @property
    def text(self) -> str:
        return f"{self.statement} The pipeline loads and fails at its first step ({self.source})."
