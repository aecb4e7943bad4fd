"""HF003: invalid header."""

from hfcount.verifier.finding import Statement


class InvalidHeader(Statement):
    """The header of a safetensors file, or the directory of a pickled one, does not follow the format."""

    code = "HF003"
    name = "invalid-header"
    level = "error"
    why = "A broken writer, or a Git LFS pointer or an error page in place of the file."
    remedy = "Write or download the file again."
