"""HF102: unread key."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import listed


class UnreadKey(Finding):
    """config.json has a key that may bear on shapes, which neither the family reads nor the type's class declares."""

    code = "HF102"
    name = "unread-key"
    level = "note"
    why = "Mostly a leftover; sometimes a variant that hfcount does not know."
    remedy = "If the key changes the model, the family has to read it."
    advises = False
    informational = True

    observed: tuple[str, ...]

    @property
    def text(self) -> str:
        keys = listed(self.observed)
        return f"{printable(self.subject)} does not read {keys}. If one of them changes the model, the count is off."
