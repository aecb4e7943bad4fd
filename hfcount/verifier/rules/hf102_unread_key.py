"""HF102: unread key."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import listed


class UnreadKey(Finding):
    """config.json has a key that may affect shapes, and hfcount does not read it."""

    code = "HF102"
    name = "unread-key"
    level = "note"
    why = "Mostly a leftover; sometimes a variant of the architecture that hfcount does not know."
    remedy = "If the key changes the model, hfcount has to learn it: please report it."
    advises = False
    informational = True

    observed: tuple[str, ...]

    @property
    def text(self) -> str:
        keys = listed(self.observed)
        return f"{printable(self.subject)} does not read {keys}. If one of them changes the model, the count is wrong."
