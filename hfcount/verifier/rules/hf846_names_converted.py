"""HF846: names converted."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, short


class NamesConverted(Finding):
    """Names differ in a way that the library of the files converts when it loads; it is not transformers.

    Args:
        library: which one it is.
    """

    code = "HF846"
    name = "names-converted"
    level = "note"
    why = "The checkpoint was saved while a wrapper was around the model, or by an early version of the library."
    remedy = "Nothing for that library. Save it again for any other."

    expected: str
    observed: str
    library: str

    @property
    def text(self) -> str:
        differs = f"{plural(self.count, 'name')} {agree(self.count, 'differs', 'differ')}"
        return (
            f"{differs} from what {printable(self.subject)} has, such as {short(self.observed)} for"
            f" {printable(self.expected)}. {printable(self.library)} converts them when it loads."
        )
