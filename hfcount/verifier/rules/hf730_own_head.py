"""HF730: own head."""

from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import some


class OwnHead(Finding):
    """An adapter has a head of its own, which its base's config does not describe.

    Args:
        head: its kind, where the config's class has another; else empty.
    """

    code = "HF730"
    name = "own-head"
    level = "note"
    why = "It was trained for a task with labels of its own."
    remedy = "Nothing, if it is loaded for its own task and with its number of labels."
    advises = False

    head: str

    @property
    def text(self) -> str:
        head = f" for {self.head.replace('_', ' ')}" if self.head else ""
        return (
            f"The adapter has a head{head} of its own ({some(self.names) or 'not stored'}), of another kind or size"
            " than the base's config gives."
        )
