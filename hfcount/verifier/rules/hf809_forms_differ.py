"""HF809: forms differ."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import short


class FormsDiffer(Finding):
    """A second config in the repo, such as params.json, describes another model than config.json.

    Args:
        expected, observed: the shape of the first tensor that differs by config.json, and by the other.
        file: the other config.
    """

    code = "HF809"
    name = "forms-differ"
    level = "error"
    why = "One of the two was changed or copied from another model."
    remedy = "Correct the config that the weights do not fit, or remove it with its files."

    expected: str
    observed: str
    file: str

    @property
    def text(self) -> str:
        differ = f"config.json and {printable(self.file)} describe {plural(self.count, 'kind')} of tensors differently"
        return f"{differ}: {short(self.tensors[0])} is {self.expected} by the first, {self.observed} by the second."
