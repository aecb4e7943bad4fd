"""HF111: number not json."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class NumberNotJson(Finding):
    """config.json holds NaN or Infinity, which JSON does not have."""

    code = "HF111"
    name = "number-not-json"
    level = "note"
    why = "Python writes them; transformers before 5 did so, too."
    remedy = 'Write {"__float__": "Infinity"} in its place, as transformers 5 does.'
    informational = True

    key: str
    observed: str

    @property
    def text(self) -> str:
        number = f"{printable(self.key, 60)} is {printable(self.observed)}"
        return f"{number}: Python reads that, and strict readers of JSON refuse the whole file."
