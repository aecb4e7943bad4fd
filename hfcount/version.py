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
    """The command that installs libraries where hfcount is: by pip, uv tool, uv or pipx.

    uv tool makes an environment anew from what it is told, so that the command names where this hfcount came from, and
    what was installed with it. Into a .pyz nothing can be installed: the command installs hfcount, too.
    """
    import os
    import sys
    from importlib.util import find_spec

    names = " ".join(modules)
    if os.path.exists(receipt := os.path.join(sys.prefix, "uv-receipt.toml")):
        return f"`uv tool install {_source()} {' '.join(f'--with {name}' for name in (*_beside(receipt), *modules))}`"
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return f"`pipx inject {os.path.basename(sys.prefix)} {names}`"
    if sys.argv[0].endswith(".pyz"):
        return f"`python3 -m pip install {REPOSITORY}/archive/v{__version__}.zip {names}`"
    active = os.path.realpath(os.environ.get("VIRTUAL_ENV") or os.sep) == os.path.realpath(sys.prefix)
    python = "python" if active else sys.executable
    if find_spec("pip") is None:
        return f"`uv pip install --python {sys.executable} {names}`"
    return f"`{python} -m pip install {names}`"


def _source() -> str:
    """Where this hfcount was installed from, as an installer takes it: its name if that is a package index.

    It is recorded as direct_url.json (packaging.python.org, "Recording the Direct URL Origin").
    """
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from shlex import quote
    from urllib.parse import unquote, urlsplit

    try:
        recorded = json.loads(distribution("hfcount").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        recorded = {}
    address = str(recorded.get("url", "hfcount"))
    if vcs := recorded.get("vcs_info"):
        return quote(f"{vcs['vcs']}+{address}@{vcs['commit_id']}")
    if address.startswith("file:"):
        path = quote(unquote(urlsplit(address).path))
        return f"--editable {path}" if recorded.get("dir_info", {}).get("editable") else path
    return quote(address)


def _beside(receipt: str) -> list[str]:
    """The libraries that uv tool has installed with hfcount, by its receipt."""
    import tomllib

    with open(receipt, "rb") as file:
        wanted = tomllib.load(file).get("tool", {}).get("requirements", ())
    return [str(one["name"]) for one in wanted if one.get("name") not in (None, "hfcount")]
