"""HF818: variant not found."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class VariantNotFound(Finding):
    """A file without a dot in its name is in the folder of a part, so diffusers loads no variant.

    Args:
        path: of the file; form: the name of the variant; needed: whether the pipeline has no other weights.
    """

    code = "HF818"
    name = "variant-not-found"
    level = "error"
    why = f"{DIFFUSERS} takes what follows the first dot of each file's name for its variant."
    remedy = "Move the file out of the folder, or give it an extension."

    path: str
    form: str
    needed: bool

    @property
    def text(self) -> str:
        other = "and some parts have no weights without variant" if self.needed else "and without variant it loads"
        return (
            f'{printable(self.path)} has no dot in its name: from_pretrained with variant="{printable(self.form)}"'
            f" raises an IndexError (diffusers 0.42.1, pipelines/pipeline_loading_utils.py:990), {other}."
        )
