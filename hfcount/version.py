"""The version, the project's address (`python tests/tools/update.py` copies both), and where hfcount is installed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

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
        return f"`{_of_uv_tool(receipt, modules)}`"
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return f"`pipx inject {os.path.basename(sys.prefix)} {names}`"
    if sys.argv[0].endswith(".pyz"):
        return f"`python3 -m pip install {REPOSITORY}/archive/v{__version__}.zip {names}`"
    active = os.path.realpath(os.environ.get("VIRTUAL_ENV") or os.sep) == os.path.realpath(sys.prefix)
    python = "python" if active else sys.executable
    if find_spec("pip") is None:
        return f"`uv pip install --python {sys.executable} {names}`"
    return f"`{python} -m pip install {names}`"


def _source(extras: str = "") -> str:
    """Where this hfcount was installed from, as an installer takes it: its name if that is a package index.

    Args:
        extras: such as `[sweep]`, which go with it.

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
    if "url" not in recorded:
        return quote(f"hfcount{extras}")
    address = str(recorded["url"])
    if address.startswith("file:") and "vcs_info" not in recorded:
        path = quote(f"{unquote(urlsplit(address).path)}{extras}")
        return f"--editable {path}" if recorded.get("dir_info", {}).get("editable") else path
    if vcs := recorded.get("vcs_info"):
        address = f"{vcs['vcs']}+{address}@{vcs['commit_id']}"
    return quote(f"hfcount{extras} @ {address}" if extras else address)


def _of_uv_tool(receipt: str, further: "Sequence[str]") -> str:
    """The command that makes hfcount's environment anew: with its extras, and with what was installed beside it."""
    import tomllib
    from shlex import join

    with open(receipt, "rb") as file:
        rows = [row for row in tomllib.load(file).get("tool", {}).get("requirements", ()) if "name" in row]
    own = next((_extras(row) for row in rows if row["name"] == "hfcount"), "")
    beside = [word for row in rows if row["name"] != "hfcount" for word in _with(row)]
    return f"uv tool install {_source(own)} {join([*beside, *(word for name in further for word in ('--with', name))])}"


def _extras(row: "Mapping[str, Any]") -> str:
    return f"[{','.join(row['extras'])}]" if row.get("extras") else ""


def _with(row: "Mapping[str, Any]") -> list[str]:
    """The option that installs a library as a row of uv tool's receipt has it (uv 0.13)."""
    from urllib.parse import parse_qs, urlsplit

    extras, marker = _extras(row), f"; {row['marker']}" if "marker" in row else ""
    if "editable" in row:
        return ["--with-editable", f"{row['editable']}{extras}"]
    if place := row.get("directory", row.get("path")):
        return ["--with", f"{place}{extras}"]
    name = f"{row['name']}{extras}"
    if "git" in row:
        parts = urlsplit(row["git"])
        asked = parse_qs(parts.query)
        revision = "".join(f"@{asked[kind][0]}" for kind in ("rev", "tag", "branch") if kind in asked)
        folder = f"#subdirectory={asked['subdirectory'][0]}" if "subdirectory" in asked else ""
        return ["--with", f"{name} @ git+{parts._replace(query='', fragment='').geturl()}{revision}{folder}{marker}"]
    if "url" in row:
        return ["--with", f"{name} @ {row['url']}{marker}"]
    return ["--with", f"{name}{row.get('specifier', '')}{marker}"]
