"""HF809: forms differ."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import short


class FormsDiffer(Finding):
    """A second form's config, such as params.json, describes another model than config.json in the same repo.

    Args:
        expected, observed: the shape of the first tensor that differs by config.json, and by the other.
        file: the other config.
    """

    code = "HF809"
    name = "forms-differ"
    level = "error"
    why = "One of the two was changed or copied from another model."
    remedy = "Correct the one that the weights do not fit, or remove that form."

    expected: str
    observed: str
    file: str

    @property
    def text(self) -> str:
        differ = f"{plural(self.count, 'kind')} of tensors differ between config.json and {printable(self.file)}"
        return f"{differ}: {short(self.tensors[0])} is {self.expected} by the first and {self.observed} by the second."
