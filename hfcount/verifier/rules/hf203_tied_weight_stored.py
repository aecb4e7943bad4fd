"""HF203: tied weight stored."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, short


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
        more, in_all = (f" and {plural(self.count - 1, 'more tensor')}", " in all") if self.count > 1 else ("", "")
        stored = f"{short(self.observed)}{more} ({plural(self.parameters, 'element')}{in_all})"
        tie, them = printable(self.expected), agree(self.count, "it is", "they are")
        if self.alike is None:
            return (
                f"{stored} {agree(self.count, 'is', 'are')} stored, though the config ties"
                f" {agree(self.count, 'it', 'them')} to {tie}: {them} not counted. Whether the"
                " values are the same was not compared."
            )
        return (
            f"{stored} {agree(self.count, 'is a copy', 'are copies')} of {tie}, to which the config ties"
            f" {agree(self.count, 'it', 'them')}: {them} not counted. Both begin and end with the same bytes."
        )
