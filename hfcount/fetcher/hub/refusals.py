"""Translates a Hub's error answers to FetchErrors."""

from hfcount.errors import FetchError
from hfcount.fetcher.client import Denied
from hfcount.text import printable


def refusal(denied: Denied, what: str, model: str, revision: str, label: str, where: str) -> FetchError:
    """The error to raise for an answer of a repo.

    Args:
        what: was asked for; label: of the repo, as messages call it; where: the endpoint, without secrets.
    """
    code, page = denied.code, f"{where}/{printable(model)}"
    if code == "GatedRepo":
        text = f"{label} is gated. Accept its terms on {page}, then `hf auth login` or set HF_TOKEN."
        if denied.signed:
            text = (
                f"{label} is gated, and the account of the token that was sent has no access. Accept its terms"
                f" on {page} with that account, or send another token."
            )
        return FetchError("GatedRepo", text)
    if code == "RevisionNotFound":
        return FetchError(
            "NoSuchRevision",
            f"{printable(model)} has no revision {printable(revision)}. Give a branch, a tag or a full commit.",
        )
    hidden = denied.status == 401 and not code and not denied.text.startswith("Invalid credentials")
    if denied.at_hub and (code == "RepoNotFound" or hidden):
        hint = "send the token of an account that may read it" if denied.signed else "set HF_TOKEN"
        from hfcount.fetcher.suggestions import no_repo

        return FetchError(
            "NoSuchRepo",
            f"no repo {printable(model)} on {where}, or it is private: check the name, or {hint}. Nor is"
            f" there a local folder of that name.{no_repo(model)}",
        )
    if denied.text == "Access to this resource is disabled.":
        return FetchError("HubError", f"access to {label} is disabled by {where}.")
    return denied.error(what)


def unlike_a_hub(shown: str, label: str, has_config: bool) -> FetchError:
    """An endpoint that lists no files and names no commit, and whether it has a config.json."""
    lost = "" if has_config else ", and finds no config.json without saying what is missing"
    return FetchError(
        "HubError",
        f"{shown} does not answer like a Hub for {label}: it lists no files and names no commit{lost}. Check"
        f" HF_ENDPOINT{'' if has_config else ' and the name'}.",
    )
