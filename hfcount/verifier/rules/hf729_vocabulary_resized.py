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
    remedy = "Call resize_token_embeddings on the base before the adapter is loaded."

    expected: tuple[int, ...]
    observed: tuple[int, ...]

    @property
    def text(self) -> str:
        return (
            f"{plural(self.count, 'tensor')} of the adapter {agree(self.count, 'is', 'are')} for a vocabulary of"
            f" another size than the base's, such as {some(self.names[:1])}: the base gives {sides(self.expected)}, stored is"
            f" {sides(self.observed)}."
        )
