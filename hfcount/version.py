"""The version and the project's address; `python tests/tools/update.py` copies both to other files."""

__version__ = "0.1.0"

REPOSITORY = "https://github.com/hfcount/hfcount"

PAGES = f"{REPOSITORY}/blob/main/hfcount/docs"
"""The pages of hfcount/docs, as one reads them."""

SCHEMA = f"{REPOSITORY.replace('//github.com', '//raw.githubusercontent.com')}/main/hfcount/docs/report.schema.json"
"""The JSON Schema of a report."""


def explained(code: str) -> str:
    """The address of the section about a finding, such as `.../findings.md#hf301`; it does not change with versions."""
    return f"{PAGES}/findings.md#{code.lower()}"
