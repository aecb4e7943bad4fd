"""HF303: dtype class."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class DtypeClass(Finding):
    """A parameter is stored as integers or booleans without a quantisation scheme, or an index as something other than
    integers.

    Args:
        dtypes: the dtypes that are stored.
        wanted: what the model, or the scheme, has there.
        reader: the library that converts them, with its version; empty where that is not known.
    """

    code = "HF303"
    name = "dtype-class"
    level = "error"
    why = "Quantised values whose scales and config were lost, or a conversion that rounded the weights."
    remedy = "Convert the weights again from the original."

    parameters: int
    dtypes: str
    wanted: str
    reader: str = ""

    @property
    def text(self) -> str:
        stored = (
            f"{plural(self.count, 'tensor')} of {plural(self.parameters, 'element')} {agree(self.count, 'is', 'are')}"
        )
        converts = (
            f" {self.reader} converts the plain numbers, and the model then computes garbage." if self.reader else ""
        )
        return (
            f"{stored} stored as {printable(self.dtypes)}, but {printable(self.subject)} needs"
            f" {printable(self.wanted)}: {some(self.names)}.{converts}"
        )
