"""HF846: names converted."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, short


class NamesConverted(Finding):
    """Names differ in a way that the checkpoint's own library (not transformers) converts when it loads.

    Args:
        library: which one it is.
    """

    code = "HF846"
    name = "names-converted"
    level = "note"
    why = "The checkpoint was saved while a wrapper was around the model, or by an early version of the library."
    remedy = "Nothing to do for that library. For any other, save it again."

    expected: str
    observed: str
    library: str

    @property
    def text(self) -> str:
        differs = f"{plural(self.count, 'name')} {agree(self.count, 'differs', 'differ')}"
        return (
            f"{differs} from the names of {printable(self.subject)}, such as {short(self.observed)} for"
            f" {printable(self.expected)}. {printable(self.library)} converts them when it loads."
        )
