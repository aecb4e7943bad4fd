"""HF808: second form differs."""

from hfcount.verifier.finding import Statement


class SecondFormDiffers(Statement):
    """The files of a second form, of Mistral or open_clip, do not hold what the config of that form describes."""

    code = "HF808"
    name = "second-form-differs"
    level = "error"
    why = "An upload that was interrupted, or a form that was made of another version of the model."
    remedy = "Upload the form again, or remove it."
