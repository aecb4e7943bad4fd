"""HF127: token renumbered."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding


class TokenRenumbered(Finding):
    """An added token has the id of a word in the vocabulary, or one behind a gap, so loading gives it another id.

    Args:
        token: the token; word: what has its id, which was observed, or empty; `expected` is the id that it gets.
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
        word = printable(self.word, 60)
        but = f"in the vocabulary that id is {word}" if word else "not all ids before it are used"
        return (
            f"{printable(self.file)}: {printable(self.token, 60)} has the id {self.observed:,}, but {but}."
            f" transformers 4.57 and 5.23 use the id {self.expected:,} instead.{more}"
        )
