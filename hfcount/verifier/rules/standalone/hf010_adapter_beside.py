"""HF010: adapter beside."""

from hfcount.fetcher.layout import ADAPTER
from hfcount.fetcher.reasons import named
from hfcount.text import printable
from hfcount.verifier.comparison import Comparison, Evidence
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import Outcome
from hfcount.verifier.wording import agree


class AdapterBeside(Finding):
    """An adapter is stored in the same folder as the model.

    Args:
        files, many: the adapter's files, and how many they are.
        fits: whether it is one that these weights take; None if it was not compared.
    """

    code = "HF010"
    name = "adapter-beside"
    level = "note"
    why = "Both were saved in one folder, on purpose or as a leftover of a merge."
    remedy = "Move it elsewhere, unless it should be applied."

    files: str
    many: int
    fits: bool | None = None

    @property
    def text(self) -> str:
        compared = {
            None: "Only the model's own weights were compared.",
            True: "It fits these weights.",
            False: "It does not fit these weights.",
        }
        return (
            f"{printable(self.files)} {agree(self.many, 'is', 'are')} in the folder of the model. Where PEFT is"
            " installed, transformers applies the adapter to what it loads: to these weights from a folder, and from a"
            f" repo to the base model that adapter_config.json names. {compared[self.fits]}"
        )


NEEDS: set[Evidence] = {"adapter"}


def check(c: Comparison, outcome: Outcome) -> None:
    """An adapter that transformers applies to what it loads."""
    files = [ADAPTER, *sorted(name for name in c.weights.apart if name.startswith("adapter_"))]
    outcome.report(AdapterBeside(file=ADAPTER, files=named(files), many=len(files)))
