"""A repo of the Hub: its listing, its documents and its shards' headers, all at one commit, through one client."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import endpoint as hub
from hfcount.fetcher import evidence, tokens
from hfcount.fetcher.addresses import joined, origin
from hfcount.fetcher.cache import not_a_repo_id
from hfcount.fetcher.client import Answer, Client, Denied, Empty
from hfcount.fetcher.hub_shards import HubShards
from hfcount.fetcher.interface import (
    ADAPTER,
    CAPS,
    CONFIG,
    INDEX,
    SHORT,
    TOKENIZER,
    TOKENS,
    Documents,
    Request,
    companions,
    label,
    top_level,
)
from hfcount.fetcher.listing import COMMIT, Listing, next_page, read_model, read_tree
from hfcount.fetcher.meter import Meter
from hfcount.fetcher.missing import without_config
from hfcount.fetcher.retry import Deadline
from hfcount.formats.json import Document
from hfcount.text import printable

_LISTED, _PAGES = 32_000_000, 100  # bytes of a listing, and its pages, that are read: those of 100,000 files


def takes(request: Request) -> bool:
    """Whatever no other source takes is a repo id."""
    del request
    return True


def read(request: Request) -> Documents:
    """config.json and the index of a repo, both at one commit.

    Raises:
        FetchError: NoSuchRepo, GatedRepo, NoSuchRevision, NoConfig, NoNetwork, HubError, UnreadableFile or BadName.
    """
    request.check_subfolder()
    place = hub.endpoint()
    if not hub.is_repo_id(request.model):
        raise FetchError("BadName", not_a_repo_id(request.model))
    client = asking(request.timeout, request.meter)
    try:
        return _Repo(client, place, request).documents()
    except BaseException:
        client.close()
        raise


def asking(seconds: float, meter: Meter | None = None) -> Client:
    """A client of the Hub that the environment names; raises FetchError where that is none."""
    return Client(hub.endpoint().url, hub.headers(), hub.token(), Deadline(seconds), meter)


def listed(client: Client, request: Request) -> Listing | None:
    """What a repo holds; None where the endpoint does not say; raises FetchError as `read` does."""
    if not hub.is_repo_id(request.model):
        raise FetchError("BadName", not_a_repo_id(request.model))
    return _Repo(client, hub.endpoint(), request).listing(sure=True)


class _Repo:
    def __init__(self, client: Client, place: hub.Endpoint, request: Request) -> None:
        self.client, self.place, self.model, self.subfolder = client, place, request.model, request.subfolder
        self.path, self.asked, self.request = request.path, request.revision or "main", request
        self.commit = None if request.files is None else request.revision
        self.sizes: Mapping[str, int | None] | None = None

    def documents(self) -> Documents:
        """What was kept of the commit, or else what is read now."""
        with ThreadPoolExecutor(3) as pool:
            try:
                return self._documents(pool)
            except BaseException:
                self.client.deadline.stop()  # nobody waits for the others
                raise

    def _documents(self, pool: ThreadPoolExecutor) -> Documents:
        asked = pool.submit(self._early) if self._unknown else None
        listing, config = self.listing(), None
        if listing is None:  # whoever answers knows files alone: the first of them says which commit it is
            config, listing = self._config_unlisted(asked.result() if asked else None), self._tree()
        self.sizes = None if listing is None else listing.sizes
        shards = HubShards(self.client, self.url, self.refused, self.sizes)
        if config is None and self.request.cache and self.commit:
            kept = evidence.load(self.request, self.place.url, self.commit, shards)
            if kept is not None:
                return kept
        if self.sizes is not None and CONFIG not in self.sizes:
            raise self._no_config()
        wanted = self.sizes is None or INDEX in self.sizes
        indexed = pool.submit(self._document, INDEX) if wanted else None
        if (self.request.headers or not wanted) and not self.request.meter:
            shards.begin()
        others = {name: pool.submit(self._companion, name) for name in companions(self.sizes or {})}
        if self.request.meter:  # whose quota may end here: a repo's config is to be asked for once
            _ = [reading.result() for reading in (indexed, *others.values()) if reading]
        config = config or self._of_the_commit(asked.result() if asked else None) or self._document(CONFIG)
        index = indexed.result() if indexed else None
        beside = {name: one for name, read in others.items() if (one := read.result())}
        if config is None or (index is None and self.sizes is not None and wanted):
            name = INDEX if config else CONFIG
            raise FetchError("HubError", f"{self.named(name)} is listed and cannot be found. Try again.")
        names = top_level(self.sizes or ())
        return Documents(
            self.path, "hub", self.commit, config, index, shards, names, sizes=self.sizes, companions=beside
        )

    @property
    def _unknown(self) -> bool:
        """Whether nothing is known of the repo, so that its config will be needed whatever the listing says."""
        if self.request.meter or self.request.files is not None:
            return False
        return not self.request.cache or evidence.commit_of(self.request, self.place.url) is None

    def _early(self) -> Answer | None:
        """config.json as the branch has it, asked for while the listing is; None where that does not work out."""
        with suppress(FetchError, Denied):
            return self.client.document(self.named(CONFIG), self.url(CONFIG, self.asked), CAPS[CONFIG])
        return None

    def _of_the_commit(self, early: Answer | None) -> Document | None:
        """The same if it is of the commit that was listed, and as long as listed."""
        if early is None or early.headers.get("X-Repo-Commit") != self.commit:
            return None
        if (self.sizes or {}).get(CONFIG) not in (None, len(early.body)):
            return None
        return Document(f"{self.label} {CONFIG}", early.body)

    def url(self, name: str, revision: str | None = None) -> str:
        """Where a file is, at the commit once that is known, or at another revision."""
        path = f"{self.subfolder}/{name}" if self.subfolder else name
        return self.place.file(self.model, revision or self.commit or self.asked, path)

    def named(self, name: str) -> str:
        """A file as messages call it."""
        return f"{printable(name)} of {self.label}"

    @property
    def label(self) -> str:
        """The repo as messages call it."""
        return label(self.path, self.commit or self.asked)

    def listing(self, sure: bool = False) -> Listing | None:
        """What the repo holds; None where the endpoint does not say, or not for `sure` that there is no such repo."""
        if self.commit is not None and self.request.files is not None:
            return Listing(self.commit, self.request.files)
        url = self.place.api(self.model, "revision", self.asked) + "?blobs=true"
        what = f"the listing of {self.label}"
        try:
            first, rest = self._pages(what, url)
        except Denied as denied:
            said = denied.code == "RevisionNotFound" or (sure and denied.code == "RepoNotFound")
            if denied.status in (404, 405, 410, 501) and not said:
                return None  # a mirror without this address, or no such repo, which the files' addresses tell apart
            raise self.refused(denied, what) from None
        try:
            commit, sizes = read_model(first)
            for page in rest:
                sizes |= read_model(page)[1]
        except DocumentError:
            return None
        if commit is None:
            return None
        self.commit = commit
        return Listing(commit, sizes).below(self.subfolder)

    def _tree(self) -> Listing | None:
        """The same in its other form, at the commit that is known."""
        if self.commit is None:
            return None
        try:
            first, rest = self._pages(
                f"the listing of {self.label}", self.place.api(self.model, "tree", self.commit) + "?recursive=true"
            )
            sizes = read_tree(first)
            for page in rest:
                sizes |= read_tree(page)
        except (Denied, DocumentError):
            return None
        return Listing(self.commit, sizes).below(self.subfolder)

    def _pages(self, what: str, url: str) -> tuple[Document, list[Document]]:
        pages: list[Document] = []
        following: str | None = url
        while following is not None:
            if len(pages) == _PAGES:
                raise FetchError("HubError", f"{what} has more than {_PAGES} pages, which no model has.")
            answer = self.client.document(what, following, _LISTED - sum(len(page.raw) for page in pages))
            pages.append(Document(what, answer.body))
            link = next_page(answer.headers.get("Link", ""))
            following = self._same_host(what, url, link) if link else None
        return pages[0], pages[1:]

    @staticmethod
    def _same_host(what: str, url: str, link: str) -> str:
        """Where the next page is; never at another host, which would be given the token."""
        following = joined(url, link)
        if following and origin(following) == origin(url):
            return following
        raise FetchError("HubError", f"{what} goes on at another host. Check HF_ENDPOINT.")

    def _config_unlisted(self, early: Answer | None) -> Document:
        """config.json where nothing is listed; its answer names the commit."""
        if early is not None:
            self._learn(early.headers.get("X-Repo-Commit", ""))
        config = self._of_the_commit(early) or self._document(CONFIG)
        if config is None:
            raise self._no_config()
        if self.commit is None:
            raise FetchError(
                "HubError",
                f"{self.place.shown} does not answer like a Hub for {self.label}: it lists no files and names no"
                " commit. Check HF_ENDPOINT.",
            )
        return config

    def _document(self, name: str) -> Document | None:
        """A document of the repo; None where there is none."""
        what, size, cap = self.named(name), (self.sizes or {}).get(name), CAPS.get(name, CAPS[CONFIG])
        if size is not None and size > cap:
            raise FetchError("UnreadableFile", f"{what} has {size:,} bytes; at most {cap:,} are read.")
        try:
            answer = self.client.document(what, self.url(name), cap)
        except Denied as denied:
            self._learn(denied.commit)
            if denied.status == 404 and denied.code in ("", "EntryNotFound"):
                return None
            raise self.refused(denied, what) from None
        self._learn(answer.headers.get("X-Repo-Commit", ""))
        if size is not None and size != len(answer.body):
            raise FetchError(
                "HubError",
                f"{what} has {size:,} bytes by the listing, and {self.place.shown} sent {len(answer.body):,}. Try"
                " again.",
            )
        return Document(f"{self.label} {name}", answer.body)

    def _companion(self, name: str) -> Document | None:
        """A further document; of a tokenizer what its beginning says of added tokens, if it can be had."""
        if name not in TOKENS:
            return self._document(name)
        with suppress(FetchError, Denied, Empty):
            end = tokens.BEGINNING if name == TOKENIZER else SHORT
            raw, size = self.client.range(self.named(name), self.url(name), 0, end)
            return Document(f"{self.label} {name}", tokens.said(name, raw, len(raw) < size) or b"{}")
        return None

    def _learn(self, commit: str) -> None:
        if self.commit is None and COMMIT.fullmatch(commit):
            self.commit = commit

    def _no_config(self) -> FetchError:
        names = self.sizes or ()
        adapter = self._document(ADAPTER) if ADAPTER in names else None
        return FetchError("NoConfig", f"{self.label} has no {CONFIG}{without_config(names, adapter)}.")

    def refused(self, denied: Denied, what: str) -> FetchError:
        """What an answer without the file means."""
        code, where, page = denied.code, self.place.shown, f"{self.place.shown}/{printable(self.model)}"
        if code == "GatedRepo":
            said = f"{self.label} is gated. Accept its terms on {page}, then `hf auth login` or set HF_TOKEN."
            if denied.signed:
                said = (
                    f"{self.label} is gated, and the account of the token that was sent has no access. Accept its terms"
                    f" on {page} with that account, or send another token."
                )
            return FetchError("GatedRepo", said)
        if code == "RevisionNotFound":
            return FetchError(
                "NoSuchRevision",
                f"{printable(self.model)} has no revision {printable(self.asked)}. Give a branch, a tag or a full"
                " commit.",
            )
        hidden = denied.status == 401 and not code and not denied.said.startswith("Invalid credentials")
        if denied.own and (code == "RepoNotFound" or hidden):
            hint = "send the token of an account that may read it" if denied.signed else "set HF_TOKEN"
            return FetchError(
                "NoSuchRepo",
                f"no repo {printable(self.model)} on {where}, or it is private: check the name, or {hint}. Nor is"
                " there a local folder of that name.",
            )
        if denied.said == "Access to this resource is disabled.":
            return FetchError("HubError", f"access to {self.label} is disabled by {where}.")
        return denied.error(what)
