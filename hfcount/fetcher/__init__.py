"""Where documents come from: the Hub, its cache, a local folder, a fixture tree."""

from dataclasses import dataclass
from pathlib import Path

from hfcount.errors import FetchError
from hfcount.fetcher.folder import (
    check_subfolder,
    home,
    is_folder,
    is_there,
    looks_local,
    read_cache,
    read_file,
    read_fixture,
    read_folder,
)
from hfcount.fetcher.interface import Documents


@dataclass(frozen=True, slots=True)
class Request:
    """Which checkpoint, and where to look for it.

    Args:
        model: a local folder or a config's own .json file if there is one, else a repo id; with `fixtures`, a path
            below that folder.
        revision: branch, tag or commit of a repo.
        subfolder: a folder of the repo.
        offline: the cache only.
    """

    model: str
    revision: str | None = None
    subfolder: str | None = None
    fixtures: Path | None = None
    offline: bool = False


def fetch(request: Request) -> Documents:
    """The documents of one checkpoint.

    Raises:
        FetchError: they could not be had.
    """
    model = request.model
    if not model:
        raise FetchError("BadName", "MODEL is empty. Name a folder or a repo.")
    if request.fixtures is not None:
        path = f"{model}/{request.subfolder}" if request.subfolder else model
        return read_fixture(request.fixtures, path)
    folder = home(model)
    if folder.suffix == ".json" and not is_folder(folder) and (looks_local(model) or is_there(folder)):
        return read_file(folder, model)
    if looks_local(model) or is_folder(folder):
        return read_folder(folder / request.subfolder if request.subfolder else folder, model, "folder")

    check_subfolder(request.subfolder)
    from huggingface_hub import constants

    if request.offline or constants.is_offline_mode():
        return read_cache(model, request.revision, request.subfolder)

    from hfcount.fetcher.hub import read_hub  # brings in the HTTP client, so only now

    return read_hub(model, request.revision, request.subfolder)
