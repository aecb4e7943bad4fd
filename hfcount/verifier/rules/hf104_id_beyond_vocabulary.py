"""HF104: id beyond vocabulary."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding


class IdBeyondVocabulary(Finding):
    """A token id in config.json has no row in the embedding; a note where the id may never be looked up.

    Args:
        ids: the keys, and the ids that they give.
        table: the embedding that has no such row; `expected` is how many it has.
    """

    code = "HF104"
    name = "id-beyond-vocabulary"
    level = "error"
    why = "Tokens were added without resizing the embedding, or the config belongs to another tokenizer."
    remedy = "Correct the id, or resize the embedding and set vocab_size."

    expected: int
    ids: str
    table: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.ids)}, and {printable(self.table)} has {plural(self.expected, 'row')}: an input with such"
            " a token fails when the model runs."
        )
