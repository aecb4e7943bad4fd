"""Shared parts of HTML pages: escaped templates, and a policy without network access."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from hfcount.text import printable


def environment(package: str) -> Environment:
    """The templates of a package.

    All values pass through Jinja's escaping, and control and bidirectional characters are shown as escapes.
    """
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value, None) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def resource(package: str, name: str) -> str:
    """A file beside the templates of a package."""
    return files(package).joinpath("templates", name).read_text("utf-8")


def policy(style: str, script: str | None = None) -> str:
    """The Content-Security-Policy of a page that has this style and this script, and nothing else."""
    scripts = f" script-src '{_digest(script)}';" if script is not None else ""
    return f"default-src 'none'; style-src '{_digest(style)}';{scripts} base-uri 'none'; form-action 'none'"


def real(value: float | None) -> str:
    """A figure with four digits that count, or nothing."""
    return "" if value is None else f"{value:.4g}"


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()
