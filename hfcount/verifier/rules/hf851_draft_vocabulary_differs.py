"""HF851: draft vocabulary differs."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class DraftVocabularyDiffers(Finding):
    """With --target MODEL only: a draft has another vocabulary than its target, whose tokens it proposes.

    Args:
        target: the target, as it is named.
    """

    code = "HF851"
    name = "draft-vocabulary-differs"
    level = "error"
    why = "Another tokenizer, or one of the two has a padded embedding."
    remedy = "Take the draft that was made for this target."

    expected: int
    observed: int
    target: str

    @property
    def text(self) -> str:
        return (
            f"vocab_size is {self.observed:,} in the draft and {self.expected:,} in {printable(self.target)}: the draft"
            " proposes token ids of the target, and its tables (embed_tokens, t2d) have a row for each."
        )
