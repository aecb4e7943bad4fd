"""HF817: only in variant."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class OnlyInVariant(Finding):
    """A part has its weights only as a variant that other parts do not have.

    Args:
        part: the name of the part; form: that of the variant.
    """

    code = "HF817"
    name = "only-in-variant"
    level = "error"
    why = "Some parts were uploaded as a variant and others without, or files of one kind are missing."
    remedy = "Upload the plain weights of the part, or rename its files."

    part: str
    form: str

    @property
    def text(self) -> str:
        part, variant = printable(self.part), printable(self.form)
        return (
            f"{part} has its weights only as the variant {variant}, which other parts do not have."
            f' from_pretrained finds no weights of {part}; with variant="{variant}" it loads a mixture.'
        )
