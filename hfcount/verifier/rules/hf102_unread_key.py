"""HF102: unread key."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, listed


class UnreadKey(Finding):
    """config.json has a key that may affect shapes, but hfcount does not read it."""

    code = "HF102"
    name = "unread-key"
    level = "note"
    why = "Mostly a leftover; sometimes a variant of the architecture that hfcount does not know."
    remedy = "If the key changes the model, please report it: hfcount should read it."
    advises = False
    informational = True

    observed: tuple[str, ...]

    @property
    def text(self) -> str:
        which = agree(len(self.observed), "it", "one of them")
        return (
            f"hfcount does not read {listed(self.observed)} for {printable(self.subject)}. If {which} changes the"
            " model, the count is wrong."
        )
