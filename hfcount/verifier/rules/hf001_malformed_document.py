"""HF001: malformed document."""

from hfcount.verifier.finding import Statement


class MalformedDocument(Statement):
    """config.json or the index is not valid JSON, or holds a value of the wrong type."""

    code = "HF001"
    name = "malformed-document"
    level = "error"
    why = "An interrupted download, a manual merge, or an error page saved as a file."
    remedy = "Download or write the file again."
