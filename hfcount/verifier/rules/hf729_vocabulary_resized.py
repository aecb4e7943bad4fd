"""HF729: vocabulary resized."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, sides, some


class VocabularyResized(Finding):
    """An adapter's vocabulary has another size than that of its base."""

    code = "HF729"
    name = "vocabulary-resized"
    level = "note"
    why = "Tokens were added in training."
    remedy = "Call resize_token_embeddings on the base before you load the adapter."

    expected: tuple[int, ...]
    observed: tuple[int, ...]

    @property
    def text(self) -> str:
        many, are = plural(self.count, "tensor"), agree(self.count, "is", "are")
        return (
            f"{many} of the adapter {are} for a vocabulary of another size than the base's, such as"
            f" {some(self.names[:1])}: expected {sides(self.expected)}, stored {sides(self.observed)}."
        )
