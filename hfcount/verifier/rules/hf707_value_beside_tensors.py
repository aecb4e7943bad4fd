"""HF707: value beside tensors."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import NEWEST
from hfcount.verifier.wording import agree, some


class ValueBesideTensors(Finding):
    """The state dict of a pickled file holds values that are not tensors; an error where transformers takes one for a
    weight.

    Args:
        keys: their keys.
        first: whether one stands before all weights, from the first of which transformers takes the dtype.
    """

    code = "HF707"
    name = "value-beside-tensors"
    level = "note"
    why = "A training state dict, or modules with extra state."
    remedy = "Save it without them."

    file: str
    keys: tuple[str, ...]
    first: bool

    @property
    def text(self) -> str:
        many = len(self.keys)
        text = (
            f"{printable(self.file)}: {plural(many, 'value')} in its state dict {agree(many, 'is', 'are')} not"
            f" {agree(many, 'a tensor', 'tensors')}: {some(self.keys)}."
        )
        if not self.first:
            return text
        return (
            f"{text} One comes before the weights, and config.json has no dtype: {NEWEST} then reads the dtype from it,"
            " and fails."
        )
