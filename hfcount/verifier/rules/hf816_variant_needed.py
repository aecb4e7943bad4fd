"""HF816: variant needed."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class VariantNeeded(Finding):
    """Some parts of a pipeline have weights only as a variant, such as fp16, which all parts have.

    Args:
        form: the variant's name.
        lacking: names of the parts that have no other weights.
    """

    code = "HF816"
    name = "variant-needed"
    level = "note"
    why = "The pipeline was saved with `variant=`."
    remedy = "Load it with that variant, or rename the files."
    informational = True

    form: str
    lacking: tuple[str, ...]

    @property
    def text(self) -> str:
        variant, some = printable(self.form), ", ".join(map(printable, self.lacking))
        return (
            f"The weights of {some} exist only as the variant {variant}: from_pretrained loads the pipeline only with"
            f' variant="{variant}". hfcount compared that variant.'
        )
