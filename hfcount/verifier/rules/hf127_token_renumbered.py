"""HF127: token renumbered."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding


class TokenRenumbered(Finding):
    """An added token has the id of a word in the vocabulary, so loading gives it another id.

    Args:
        token: the token; word: what has its id, which was observed; `expected` is the id that it gets.
        more: how many more tokens have such an id.
    """

    code = "HF127"
    name = "token-renumbered"
    level = "note"
    why = "The added tokens are those of another tokenizer, or the vocabulary grew."
    remedy = "Save the tokenizer again, with the ids that the model was trained with."

    expected: int
    observed: int
    file: str
    token: str
    word: str
    more: int

    @property
    def text(self) -> str:
        more = f" {plural(self.more, 'more token')} likewise." if self.more else ""
        return (
            f"{printable(self.file)}: {printable(self.token, 60)} has the id {self.observed:,}, but in the vocabulary"
            f" that id is {printable(self.word, 60)}. transformers 4.57 and 5.23 use the id {self.expected:,}"
            f" instead.{more}"
        )
