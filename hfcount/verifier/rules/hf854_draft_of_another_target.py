"""HF854: draft of another target."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class DraftOfAnotherTarget(Finding):
    """With --target MODEL only: the config of a draft says what its target is like, and this one is not.

    Args:
        target: the target, as it is named.
        said: what the draft's config says, as it is written.
        seen: what the target's config says.
    """

    code = "HF854"
    name = "draft-of-another-target"
    level = "note"
    why = "The draft of another model of the same family, or a target that was fine-tuned or converted."
    remedy = "Make sure that the draft was made for this target: another one runs, and few of its tokens are accepted."

    key: str
    target: str
    said: str
    seen: str

    @property
    def text(self) -> str:
        return (
            f"{self.key} of the draft is {printable(self.said, 100)}, and {printable(self.target)} has"
            f" {printable(self.seen, 100)}."
        )
