"""HF108: no model type."""

from hfcount.verifier.finding import Statement


class NoModelType(Statement):
    """config.json has no model_type; a note where the repo's own code reads it anyway."""

    code = "HF108"
    name = "no-model-type"
    level = "error"
    why = "A config written by hand, or by another library."
    remedy = "Add model_type."
