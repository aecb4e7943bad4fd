"""HF851: draft vocabulary differs."""

from hfcount.verifier.draft_finding import DraftFinding


class DraftVocabularyDiffers(DraftFinding):
    """With --target MODEL only: a draft has another vocabulary than its target, whose tokens it proposes."""

    code = "HF851"
    name = "draft-vocabulary-differs"
    level = "error"
    why = "Another tokenizer, or one of the two has a padded embedding."
    remedy = "Use the draft that was made for this target."

    expected: int
    observed: int

    @property
    def text(self) -> str:
        return (
            f"vocab_size is {self.observed:,} in the draft but {self.expected:,} in {self.target_name}: the draft"
            " proposes token ids of the target, so its tables (embed_tokens, t2d) need a row for each."
        )
