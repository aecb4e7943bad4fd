"""Reads the listing of a repo, folder by folder if the endpoint lists no more at once."""

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
    """A query for the listing of a repo, and its name in messages (`what`)."""

    client: Client
    place: Endpoint
    model: str
    what: str


def pages(query: ListingQuery, url: str) -> list[Document]:
    """All pages of a listing.

    Raises:
        Denied: the server answered something else.
        FetchError: it has too many, or goes on at another host.
    """
    documents: list[Document] = []
    following: str | None = url
    while following is not None:
        if len(documents) == _PAGES:
            raise FetchError("HubError", f"{query.what} has more than {_PAGES} pages, which no model has.")
        answer = query.client.document(query.what, following, _LISTED - sum(len(page.raw) for page in documents))
        documents.append(Document(query.what, answer.body))
        link = next_page(answer.headers.get("Link", ""))
        following = _same_host(query.what, url, link) if link else None
    return documents


def read_listing(
    query: ListingQuery, revision: str, sure: bool, refused: Callable[[Denied, str], FetchError]
) -> Listing | None:
    """The listing of the repo; None if the endpoint has none; with `sure`, a missing repo raises.

    Args:
        refused: what is raised for another answer.
    """
    try:
        first, *rest = pages(query, query.place.api(query.model, "revision", revision) + "?blobs=true")
    except Denied as denied:
        definite = denied.code == "RevisionNotFound" or (sure and denied.code == "RepoNotFound")
        if denied.status in (404, 405, 410, 501) and not definite:
            return None  # a mirror without this address, or no such repo, which the files' addresses tell apart
        raise refused(denied, query.what) from None
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


def tree(query: ListingQuery, commit: str, folder: str | None) -> dict[str, int | None] | None:
    """Bytes of all files from a folder of the repo down, by path; None where the endpoint does not say of all.

    Raises:
        FetchError: it could not be reached.
    """
    sizes: dict[str, int | None] = {}
    left, listed = [folder or ""], set[str]()
    while left:
        if len(listed) == _FOLDERS:
            return None
        listed.add(place := left.pop())
        files, folders = dict[str, int | None](), list[str]()
        try:
            for page in pages(query, _address(query, commit, place)):
                more, others = read_tree(page)
                files, folders = files | more, folders + others
        except (Denied, DocumentError):
            return None
        sizes |= files
        # Some mirrors pass over `recursive`, and list the folders alone.
        shown = {name[:end] for name in files for end, char in enumerate(name) if char == "/"}
        left += [child for child in dict.fromkeys(folders) if child not in shown | listed and child not in left]
    return sizes


def _address(query: ListingQuery, commit: str, folder: str) -> str:
    url = query.place.api(query.model, "tree", commit)
    return f"{url}/{quote(folder)}?recursive=true" if folder else f"{url}?recursive=true"


def with_modules(
    query: ListingQuery,
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
        named = [entry for entry in read_modules(modules) if entry.lacks(sizes) and is_inside(entry.folder)]
    except DocumentError:
        return sizes
    prefix = f"{folder}/" if folder else ""
    for module in named[:_FOLDERS]:
        start = f"{prefix}{module.folder}/"
        inner = tree(query, commit, start[:-1]) or {}
        sizes = {**sizes, **{name[len(prefix) :]: size for name, size in inner.items() if name.startswith(start)}}
        for name in _MODULE:  # where folders are not listed at all
            if module.lacks(sizes) and has(place := f"{module.folder}/{name}"):
                sizes = {**sizes, place: None}
    return sizes
