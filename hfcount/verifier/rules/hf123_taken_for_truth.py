"""HF123: taken for true or false."""

from hfcount.verifier.finding import Statement


class TakenForTruth(Statement):
    """A word, number or list stands where true or false is meant; transformers takes it for one of them."""

    code = "HF123"
    name = "taken-for-truth"
    level = "note"
    why = "A config edited by hand, or written by a tool that writes true and false as words or numbers."
    remedy = "Write true or false, as it is meant: readers written in another language may take it otherwise."
