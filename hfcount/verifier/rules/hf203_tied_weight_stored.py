"""HF203: tied weight stored."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import short


class TiedWeightStored(Finding):
    """A copy of a tied weight is stored.

    Args:
        alike: whether both begin and end with the same bytes; None if that was not compared.
    """

    code = "HF203"
    name = "tied-weight-stored"
    level = "note"
    why = "Some writers do not know the tie and save the head as well as the embedding it shares."
    remedy = "Nothing to do if it is a copy. Saving again with transformers drops it."
    advises = False

    expected: str
    observed: str
    parameters: int
    alike: bool | None

    @property
    def text(self) -> str:
        many = f"{plural(self.count, 'tensor')} of {plural(self.parameters, 'element')} in all"
        tie, name = printable(self.expected), short(self.observed)
        if self.alike is None:
            return (
                f"{many} that the config ties to {tie}: {name}. It is not counted. Whether its values are the same"
                " was not compared."
            )
        return (
            f"{many}, a copy of {tie}, to which the config ties it: {name}. It is not counted. Both begin and end with"
            " the same bytes."
        )
