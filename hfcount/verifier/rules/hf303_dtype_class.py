"""HF303: dtype class."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class DtypeClass(Finding):
    """A parameter is stored as integers or booleans and no scheme packs it, or indices as other numbers.

    Args:
        dtypes: the dtypes that are stored.
        wanted: what the model, or the scheme, has there.
    """

    code = "HF303"
    name = "dtype-class"
    level = "error"
    why = "Codes of a quantisation whose scales and config were lost, or a conversion that rounded them."
    remedy = "Convert them again from the original."

    parameters: int
    dtypes: str
    wanted: str

    @property
    def text(self) -> str:
        stored = (
            f"{plural(self.count, 'tensor')} of {plural(self.parameters, 'element')} {agree(self.count, 'is', 'are')}"
        )
        return (
            f"{stored} stored as {printable(self.dtypes)}, and {printable(self.subject)} has {printable(self.wanted)}"
            f" there: {some(self.names)}. Loaders convert them one by one, and the model computes with whatever that"
            " gives."
        )
