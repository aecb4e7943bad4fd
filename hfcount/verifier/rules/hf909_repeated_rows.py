"""HF909: repeated rows."""

from typing import ClassVar, Literal

from hfcount.verifier.values import ValueFinding

Repeated = Literal["rows", "columns", "pairs of columns", "parts"]


class RepeatedRows(ValueFinding):
    """Rows, columns or parts of a weight matrix are the same to the bit, which neither training nor chance makes.

    Args:
        kind: what repeats.
        observed: how many of those that were compared; of parts, how many the matrix has.
        among: how many were compared.
    """

    code = "HF909"
    name = "repeated-rows"
    level = "error"
    why = "A conversion that copied one row over others, a gather that took one rank's part twice, or a broadcast."
    remedy = "Convert or save the weights again: what the rows held before is not in this file."

    kind: Repeated
    observed: int
    among: int

    _SAID: ClassVar[dict[Repeated, str]] = {
        "rows": "repeats rows: {observed:,} of {among:,} that were compared are the same as the row before",
        "columns": "has equal columns: each of {observed:,} of {among:,} rows that were compared has one value",
        "pairs of columns": "has each column twice, side by side, in {observed:,} of {among:,} rows that were compared",
        "parts": "is the same {observed} times over: its first rows are there again after each 1/{observed} of it",
    }

    @property
    def text(self) -> str:
        said = self._SAID[self.kind].format(observed=self.observed, among=self.among)
        return f"{self.place} {said}.{self.others}"
