"""HF304: scales unseen."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class ScalesUnseen(Finding):
    """Weights are stored as 8-bit floats without scales, and the config declares no such dtype.

    Args:
        dtypes: the dtypes that are stored.
        reader: the library that takes them as they are, with its version; empty where that is not known.
    """

    code = "HF304"
    name = "scales-unseen"
    level = "note"
    why = (
        "Weights that were cast directly, or quantised weights that lost their scales and config: headers do not"
        " show which."
    )
    remedy = "If they were quantised, restore the scales and quantization_config."
    proof = "lost"

    parameters: int
    dtypes: str
    reader: str = ""

    @property
    def text(self) -> str:
        stored = (
            f"{plural(self.count, 'tensor')} of {plural(self.parameters, 'element')} {agree(self.count, 'is', 'are')}"
        )
        takes = f"{self.reader} uses the numbers as they are" if self.reader else "The numbers are used as they are"
        return (
            f"{stored} stored as {printable(self.dtypes)} without scales, and config.json has no quantization_config:"
            f" {some(self.names)}. {takes}, which is right only if no weight was divided by a scale."
        )
