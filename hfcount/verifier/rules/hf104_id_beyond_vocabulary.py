"""HF104: id beyond vocabulary."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding


class IdBeyondVocabulary(Finding):
    """A token id in config.json has no row in the embedding; a note where the id may never be looked up.

    Args:
        ids: the keys, and the ids that they give.
        table: the embedding that has no such row; `expected` is how many it has.
        ends: whether generation is to end at these ids; reached: whether it also ends at one that has a row.
    """

    code = "HF104"
    name = "id-beyond-vocabulary"
    level = "error"
    why = "Tokens were added without resizing the embedding, or the config belongs to another tokenizer."
    remedy = "Correct the id, or resize the embedding and set vocab_size."

    expected: int
    ids: str
    table: str
    ends: bool = False
    reached: bool = False

    @property
    def text(self) -> str:
        if self.ends:
            never = "" if self.reached else ", and generates until the limit of its length"
            return (
                f"{printable(self.ids)}, but {printable(self.table)} has {plural(self.expected, 'row')}: generate of"
                f" transformers 5.23 never produces that token{never}."
            )
        return (
            f"{printable(self.ids)}, but {printable(self.table)} has {plural(self.expected, 'row')}: an input with such"
            " a token fails when the model runs."
        )
