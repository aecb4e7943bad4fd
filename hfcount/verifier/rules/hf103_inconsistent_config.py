"""HF103: inconsistent config."""

from hfcount.verifier.finding import Statement


class InconsistentConfig(Statement):
    """Values of config.json contradict each other or are out of range; a note where a model may load all the same."""

    code = "HF103"
    name = "inconsistent-config"
    level = "error"
    why = "A config edited by hand or taken from another model."
    remedy = "Correct the value that is wrong."
    proof = "doubted"
