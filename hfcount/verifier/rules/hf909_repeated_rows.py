"""HF909: repeated rows."""

from typing import ClassVar, Literal

from hfcount.verifier.values import ValueFinding

Repeated = Literal["rows", "columns", "pairs of columns", "parts"]


class RepeatedRows(ValueFinding):
    """Rows, columns or parts of a weight matrix are identical bit for bit, which does not happen in training.

    Args:
        kind: what repeats.
        observed: how many of those that were compared; of parts, how many the matrix has.
        among: how many were compared.
    """

    code = "HF909"
    name = "repeated-rows"
    level = "error"
    why = "A conversion that copied one row over others, a gather that took one rank's part twice, or a broadcast."
    remedy = "Convert or save the weights again: the original values are not in this file."

    kind: Repeated
    observed: int
    among: int

    _SAID: ClassVar[dict[Repeated, str]] = {
        "rows": "repeats rows: {observed:,} of {among:,} compared rows equal the row before",
        "columns": "has equal columns: {observed:,} of {among:,} compared rows hold one value each",
        "pairs of columns": "has each column twice, side by side, in {observed:,} of {among:,} compared rows",
        "parts": "repeats the same rows {observed} times: every 1/{observed} of it begins with the same rows",
    }

    @property
    def text(self) -> str:
        said = self._SAID[self.kind].format(observed=self.observed, among=self.among)
        return f"{self.place} {said}.{self.others}"
