"""The Hub's endpoint, token and cache, from huggingface_hub's settings but without its HTTP client."""

import os
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from hfcount.errors import FetchError
from hfcount.text import address, printable


class Endpoint(NamedTuple):
    """A Hub: its address without an end slash, and the folder where its standard cache is."""

    url: str
    cache: Path
    offline: bool

    @property
    def shown(self) -> str:
        """The address as messages may show it: without a user, a password or a query."""
        return address(self.url)

    def file(self, model: str, revision: str, name: str) -> str:
        """The address of a file of a repo."""
        return f"{self.url}/{model}/resolve/{quote(revision, safe='')}/{quote(name)}"

    def api(self, model: str, kind: str, revision: str) -> str:
        """The API address of a repo's listing."""
        return f"{self.url}/api/models/{model}/{kind}/{quote(revision, safe='')}"


def settings() -> Any:
    """huggingface_hub.constants, which reads the environment when it is imported.

    Raises:
        FetchError: BadName, a setting of the environment cannot be read.
    """
    try:
        from huggingface_hub import constants
    except ValueError as error:
        raise FetchError(
            "BadName", f"a setting that begins with HF_ cannot be read ({printable(str(error), 120)}). Correct it."
        ) from None
    return constants


def endpoint() -> Endpoint:
    """The Hub that HF_ENDPOINT names, and the cache that HF_HOME and HF_HUB_CACHE name.

    Raises:
        FetchError: BadName, a setting of the environment cannot be read.
    """
    constants = settings()
    hub = Endpoint(constants.ENDPOINT, Path(constants.HF_HUB_CACHE), constants.HF_HUB_OFFLINE)
    try:
        parts = urlsplit(hub.url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
    if not sound or not hub.url.isprintable() or " " in hub.url:
        raise FetchError("BadName", f"HF_ENDPOINT is {hub.shown}, which is not a valid address of a Hub. Correct it.")
    return hub


def headers() -> dict[str, str]:
    """The headers of every request."""
    from hfcount.version import __version__

    version = ".".join(map(str, sys.version_info[:3]))
    return {"User-Agent": f"hfcount/{__version__}; python/{version}"}


def token() -> str | None:
    """The access token, as huggingface_hub finds it.

    Most often it is in the environment or in a plain file. Where it has to be made anew, huggingface_hub does that.

    Raises:
        FetchError: HubError, it cannot be had; BadName, no server can be sent it.
    """
    constants = settings()
    if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN:
        return None
    value = _clean(os.environ.get("HF_TOKEN") or os.environ.get("HUGGING_FACE_HUB_TOKEN"))
    made_elsewhere = os.environ.get("HF_OIDC_RESOURCE") or "google.colab" in sys.modules
    if made_elsewhere or (not value and os.path.exists(constants.HF_TOKEN_PATH)):
        from huggingface_hub import get_token

        try:
            value = get_token()
        except (OSError, ValueError) as error:
            raise FetchError(
                "HubError", f"the token cannot be read ({printable(str(error), 120)}). Run `hf auth login`."
            ) from None
    if value and not (value.isascii() and value.isprintable()):
        raise FetchError("BadName", "the token has invalid characters. Correct HF_TOKEN, or run `hf auth login`.")
    return value


def _clean(value: str | None) -> str | None:
    """A token without the line breaks and blanks that files and secrets bring along."""
    return (value or "").replace("\r", "").replace("\n", "").strip() or None


def is_repo_id(model: str) -> bool:
    """Whether a repo may be called so, by the rules of huggingface_hub."""
    allowed = re.fullmatch(r"(?!.*(--|\.\.))[\w.-]{1,96}(/[\w.-]{1,96})?", model, re.ASCII)
    parts = model.split("/")
    return bool(allowed) and not any(part[0] in ".-" or part.endswith((".", "-", ".git")) for part in parts)
