"""HF003: invalid header."""

from hfcount.verifier.finding import Statement


class InvalidHeader(Statement):
    """A safetensors header does not follow the format."""

    code = "HF003"
    name = "invalid-header"
    level = "error"
    why = "A broken writer, or a Git LFS pointer or an error page in place of the file."
    remedy = "Write or download the shard again."
