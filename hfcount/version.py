"""The version, the project's address (`python tests/tools/update.py` copies both), and where hfcount is installed."""

__version__ = "0.1.0"

REPOSITORY = "https://github.com/hfcount/hfcount"

PAGES = f"{REPOSITORY}/blob/main/hfcount/docs"
"""The pages of hfcount/docs, as one reads them."""

SCHEMA = f"{REPOSITORY.replace('//github.com', '//raw.githubusercontent.com')}/main/hfcount/docs/report.schema.json"
"""The JSON Schema of a report."""


def explained(code: str) -> str:
    """The address of the section about a finding, such as `.../findings.md#hf301`; it does not change with versions."""
    return f"{PAGES}/findings.md#{code.lower()}"


def missing(what: str, *modules: str) -> str:
    """That libraries are not installed, and the command that installs them where hfcount is.

    Args:
        what: what needs the first of them.
    """
    return f"{modules[0]} is not installed, which {what} needs: {install(*modules)} installs it."


def install(*modules: str) -> str:
    """The command that installs libraries where hfcount is: by pip, uv tool or pipx."""
    import os
    import sys

    names = " ".join(modules)
    if os.path.exists(os.path.join(sys.prefix, "uv-receipt.toml")):
        return f"`uv tool install hfcount {' '.join(f'--with {module}' for module in modules)}`"
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return f"`pipx inject hfcount {names}`"
    active = os.path.realpath(os.environ.get("VIRTUAL_ENV") or os.sep) == os.path.realpath(sys.prefix)
    return f"`{'python' if active else sys.executable} -m pip install {names}`"
