"""HF111: number not json."""

from hfcount.mapper.loader_differences import OLDER
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import NEWEST


class NumberNotJson(Finding):
    """config.json holds NaN or Infinity, which JSON does not have."""

    code = "HF111"
    name = "number-not-json"
    level = "note"
    why = f"Python writes them, and so does {OLDER}."
    remedy = f'Write {{"__float__": "Infinity"}} instead, as {NEWEST} does.'
    informational = True

    key: str
    observed: str

    @property
    def text(self) -> str:
        number = f"{printable(self.key, 60)} is {printable(self.observed)}"
        return f"{number}, which is not JSON: Python reads it, JavaScript's JSON.parse refuses the whole file."
