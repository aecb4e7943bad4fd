"""HF114: not loaded whole."""

from hfcount.verifier.finding import Statement


class NotLoadedWhole(Statement):
    """A loader refuses the checkpoint, fills or drops tensors, or reads them differently from how they were saved."""

    code = "HF114"
    name = "not-loaded-whole"
    level = "error"
    why = (
        "The checkpoint was written by another library or version, or in a form that the loader does not read. It is"
        " reported for the loaders that the checkpoint is made for, and for those that --for names."
    )
    remedy = "Use a loader that loads all of it (the report names them), or save it in the form that this one reads."
    advises = False
