"""HF105: token beyond embedding."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding


class TokenBeyondEmbedding(Finding):
    """The tokenizer has a token without a row in the embedding; a note for padding and placeholder tokens.

    Args:
        token: the token of the id that was observed.
        more: how many more tokens have such an id.
        table: the embedding that has no such row; `expected` is how many it has.
    """

    code = "HF105"
    name = "token-beyond-embedding"
    level = "error"
    why = "Tokens were added to the tokenizer without resizing the embedding, or the tokenizer is another model's."
    remedy = "Resize the embedding (model.resize_token_embeddings) and save again, or drop the token."

    expected: int
    observed: int
    file: str
    token: str
    more: int
    table: str

    @property
    def text(self) -> str:
        more = f" ({plural(self.more, 'more token')} have such an id)" if self.more else ""
        return (
            f"{printable(self.file)}: {printable(self.token, 60)} has the id {self.observed:,}{more}, but"
            f" {printable(self.table)} has only rows 0 to {self.expected - 1:,}: an input with such a token fails when"
            " the model runs."
        )
