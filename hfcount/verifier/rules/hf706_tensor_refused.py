"""HF706: tensor refused."""

from collections.abc import Mapping

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import short


class TensorRefused(Finding):
    """Tensors of a pickled file are sparse, quantised by torch, without values, or of a dtype that no model uses.

    Args:
        odd: what they are, by name.
    """

    code = "HF706"
    name = "tensor-refused"
    level = "error"
    why = "A training state, or a model that torch quantised, was saved instead of the model."
    remedy = "Save the model's own weights, as dense tensors."

    file: str
    odd: Mapping[str, str]

    @property
    def text(self) -> str:
        name, kind = next(iter(self.odd.items()))
        return (
            f"{printable(self.file)}: {plural(len(self.odd), 'tensor')} cannot be loaded into a model, such"
            f" as {short(name)}, which is {printable(kind, 40)}."
        )
