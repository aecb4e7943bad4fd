"""HF854: draft of another target."""

from hfcount.text import printable
from hfcount.verifier.draft_finding import DraftFinding


class DraftOfAnotherTarget(DraftFinding):
    """With --target MODEL only: the config of a draft describes its target, and this target is different.

    Args:
        draft_value: what the draft's config says, as it is written.
        target_value: what the target's config says.
    """

    code = "HF854"
    name = "draft-of-another-target"
    level = "note"
    why = "The draft of another model of the same family, or a target that was fine-tuned or converted."
    remedy = "Use the draft of this target: the draft of another one runs, but few of its tokens are accepted."

    key: str
    draft_value: str
    target_value: str

    @property
    def text(self) -> str:
        return (
            f"{self.key} of the draft is {printable(self.draft_value, 100)}, but {self.target_name} has"
            f" {printable(self.target_value, 100)}."
        )
