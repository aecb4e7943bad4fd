"""HF001: malformed document."""

from hfcount.verifier.finding import Statement


class MalformedDocument(Statement):
    """config.json or the index is not the JSON it must be."""

    code = "HF001"
    name = "malformed-document"
    level = "error"
    why = "An interrupted download, a merge by hand, an error page saved as a file, a value of the wrong type."
    remedy = "Download or write the file again."
