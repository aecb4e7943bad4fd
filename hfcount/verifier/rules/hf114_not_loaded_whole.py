"""HF114: not loaded whole."""

from hfcount.verifier.finding import Statement


class NotLoadedWhole(Statement):
    """A loader refuses the checkpoint, or fills, drops or reads something otherwise than it was saved."""

    code = "HF114"
    name = "not-loaded-whole"
    level = "error"
    why = (
        "The checkpoint was written by another library or version, or is of a form that the loader does not take; it is"
        " reported for the loaders that a checkpoint is made for, and for those that --for names."
    )
    remedy = "Use a loader that takes it whole, which the report names, or write the form that this one reads."
    advises = False
