"""HF909: repeated rows."""

from typing import ClassVar, Literal

from hfcount.verifier.values import ValueFinding

Repeated = Literal["rows", "columns", "pairs of columns", "parts", "blocks"]


class RepeatedRows(ValueFinding):
    """Rows, columns, parts or blocks of a weight matrix are identical bit for bit, which does not happen in training.

    Args:
        kind: what repeats.
        observed: how many of those that were compared; of parts, how many the matrix has; of a block, its bytes.
        among: how many were compared; of a block, how many bytes lie between its two places.
    """

    code = "HF909"
    name = "repeated-rows"
    level = "error"
    why = "A conversion copied one row over others, a gather took one rank's part twice, or a buffer was written again."
    remedy = "Convert or save the weights again: the original values are not in this file."

    kind: Repeated
    observed: int
    among: int

    _SAID: ClassVar[dict[Repeated, str]] = {
        "rows": "repeats rows: {observed:,} of {among:,} compared rows equal the row before",
        "columns": "has equal columns: {observed:,} of {among:,} compared rows hold one value each",
        "pairs of columns": "has each column twice, side by side, in {observed:,} of {among:,} compared rows",
        "blocks": "holds the same {observed:,} bytes or more twice, the second time {among:,} bytes after the first",
        "parts": "repeats the same rows {observed} times: every 1/{observed} of it begins with the same rows",
    }

    @property
    def text(self) -> str:
        said = self._SAID[self.kind].format(observed=self.observed, among=self.among)
        return f"{self.place} {said}.{self.others}"
