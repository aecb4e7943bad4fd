"""HF808: second form differs."""

from hfcount.verifier.finding import Statement


class SecondFormDiffers(Statement):
    """The repo has the model a second time, in the form of Mistral or open_clip, and those files do not fit their own
    config."""

    code = "HF808"
    name = "second-form-differs"
    level = "error"
    why = "An interrupted upload, or files made from another version of the model."
    remedy = "Upload those files again, or remove them."
