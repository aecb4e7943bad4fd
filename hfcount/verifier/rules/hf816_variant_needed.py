"""HF816: variant needed."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class VariantNeeded(Finding):
    """Every part of a pipeline has its weights in files of one variant, such as fp16, and some have no others.

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
            f"The weights of {some} are there as the variant {variant} alone: from_pretrained loads the pipeline with"
            f' variant="{variant}", and not without. That variant was compared.'
        )
