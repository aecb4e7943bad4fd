"""HF730: own head."""

from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import some


class OwnHead(Finding):
    """An adapter has its own head, which the config of its base does not describe.

    Args:
        head: its kind, where the config's class has another; else empty.
    """

    code = "HF730"
    name = "own-head"
    level = "note"
    why = "It was trained for a task with its own labels."
    remedy = "Nothing to do if you load it for that task, with that number of labels."
    advises = False

    head: str

    @property
    def text(self) -> str:
        head = f" for {self.head.replace('_', ' ')}" if self.head else ""
        return (
            f"The adapter has its own head{head} ({some(self.names) or 'not stored'}), of another kind or size than in"
            " the base's config."
        )
