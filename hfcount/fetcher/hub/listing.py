"""What an endpoint lists of a repo, folder by folder where it lists no more at once."""

from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import quote

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher.addresses import joined, origin
from hfcount.fetcher.client import Client, Denied
from hfcount.fetcher.endpoint import Endpoint
from hfcount.fetcher.interface import is_inside
from hfcount.fetcher.listing import Listing, next_page, read_model, read_tree
from hfcount.formats.json import Document
from hfcount.formats.modules_json import read_modules

_LISTED, _PAGES = 32_000_000, 100  # bytes of a listing, and its pages, that are read: those of 100,000 files
_FOLDERS = 30  # that are listed one by one
# One of the first every module with files has, and one of the others every module with weights.
_MODULE = ("config.json", "tokenizer.json", "wordembedding_config.json", "model.safetensors", "pytorch_model.bin")


class ListingQuery(NamedTuple):
    """Who is asked for which repo, and what messages call its listing."""

    client: Client
    place: Endpoint
    model: str
    what: str


def pages(asked: ListingQuery, url: str) -> list[Document]:
    """All pages of a listing.

    Raises:
        Denied: the server answered something else.
        FetchError: it has too many, or goes on at another host.
    """
    found: list[Document] = []
    following: str | None = url
    while following is not None:
        if len(found) == _PAGES:
            raise FetchError("HubError", f"{asked.what} has more than {_PAGES} pages, which no model has.")
        answer = asked.client.document(asked.what, following, _LISTED - sum(len(page.raw) for page in found))
        found.append(Document(asked.what, answer.body))
        link = next_page(answer.headers.get("Link", ""))
        following = _same_host(asked.what, url, link) if link else None
    return found


def whole(
    asked: ListingQuery, revision: str, sure: bool, refused: Callable[[Denied, str], FetchError]
) -> Listing | None:
    """What the repo holds; None where the endpoint does not say, or not for `sure` that there is no such repo.

    Args:
        refused: what is raised for another answer.
    """
    try:
        first, *rest = pages(asked, asked.place.api(asked.model, "revision", revision) + "?blobs=true")
    except Denied as denied:
        said = denied.code == "RevisionNotFound" or (sure and denied.code == "RepoNotFound")
        if denied.status in (404, 405, 410, 501) and not said:
            return None  # a mirror without this address, or no such repo, which the files' addresses tell apart
        raise refused(denied, asked.what) from None
    try:
        commit, sizes = read_model(first)
        for page in rest:
            sizes |= read_model(page)[1]
    except DocumentError:
        return None
    return None if commit is None else Listing(commit, sizes, (first, *rest))


def _same_host(what: str, url: str, link: str) -> str:
    """Where the next page is; never at another host, which would be given the token."""
    following = joined(url, link)
    if following and origin(following) == origin(url):
        return following
    raise FetchError("HubError", f"{what} goes on at another host. Check HF_ENDPOINT.")


def tree(asked: ListingQuery, commit: str, folder: str | None) -> dict[str, int | None] | None:
    """Bytes of all files from a folder of the repo down, by path; None where the endpoint does not say of all.

    Raises:
        FetchError: it could not be reached.
    """
    found: dict[str, int | None] = {}
    left, seen = [folder or ""], set[str]()
    while left:
        if len(seen) == _FOLDERS:
            return None
        seen.add(place := left.pop())
        files, folders = dict[str, int | None](), list[str]()
        try:
            for page in pages(asked, _address(asked, commit, place)):
                more, others = read_tree(page)
                files, folders = files | more, folders + others
        except (Denied, DocumentError):
            return None
        found |= files
        # Some mirrors pass over `recursive`, and list the folders alone.
        shown = {name[:end] for name in files for end, one in enumerate(name) if one == "/"}
        left += [one for one in dict.fromkeys(folders) if one not in shown | seen and one not in left]
    return found


def _address(asked: ListingQuery, commit: str, folder: str) -> str:
    url = asked.place.api(asked.model, "tree", commit)
    return f"{url}/{quote(folder)}?recursive=true" if folder else f"{url}?recursive=true"


def with_modules(
    asked: ListingQuery,
    commit: str,
    folder: str | None,
    modules: Document,
    sizes: Mapping[str, int | None],
    has: Callable[[str], bool],
) -> Mapping[str, int | None]:
    """A listing with the files of modules that it lacks and that are there all the same.

    Args:
        folder: of the repo, that all names are below.
        has: whether there is a file of that name, by its own address.
    """
    try:
        named = [one for one in read_modules(modules) if one.lacks(sizes) and is_inside(one.folder)]
    except DocumentError:
        return sizes
    prefix = f"{folder}/" if folder else ""
    for module in named[:_FOLDERS]:
        start = f"{prefix}{module.folder}/"
        found = tree(asked, commit, start[:-1]) or {}
        sizes = {**sizes, **{name[len(prefix) :]: size for name, size in found.items() if name.startswith(start)}}
        for name in _MODULE:  # where folders are not listed at all
            if module.lacks(sizes) and has(place := f"{module.folder}/{name}"):
                sizes = {**sizes, place: None}
    return sizes
