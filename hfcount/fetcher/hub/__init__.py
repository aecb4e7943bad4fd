"""Reads a repo of the Hub at one commit: its listing, documents and shard headers."""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial

from hfcount.errors import FetchError
from hfcount.fetcher import endpoint as hub
from hfcount.fetcher import evidence_cache, module_files
from hfcount.fetcher.cache import not_a_repo_id
from hfcount.fetcher.client import Client, Denied, Reply
from hfcount.fetcher.companions import companions
from hfcount.fetcher.hub.files import HubFiles
from hfcount.fetcher.hub.listing import ListingQuery, read_listing, tree, with_modules
from hfcount.fetcher.hub.refusals import refusal, unlike_a_hub
from hfcount.fetcher.hub.shards import HubShards, begun
from hfcount.fetcher.interface import CAPS, CHAT, TOKENS, Documents, Request, Shards, label, top_level
from hfcount.fetcher.layout import ADAPTER, CONFIG, MODULES, PIPELINE_LAYOUT, Layout, layout_of, others_of
from hfcount.fetcher.listing import COMMIT, Listing
from hfcount.fetcher.location import Place
from hfcount.fetcher.meter import Meter
from hfcount.fetcher.ranges import Headers
from hfcount.fetcher.reasons import without_config
from hfcount.fetcher.retry import Deadline
from hfcount.formats.json import Document
from hfcount.text import printable


def takes(request: Request) -> bool:
    """Always true: the last source treats MODEL as a repo id."""
    del request
    return True


def read(request: Request) -> Documents | Place:
    """config.json and the index of a repo, both at one commit; the place alone if it has no config, or a file is named.

    Raises:
        FetchError: NoSuchRepo, GatedRepo, NoSuchRevision, NoConfig, NoNetwork, HubError, UnreadableFile or BadName.
    """
    request.check_subfolder()
    place = hub.endpoint()
    if not hub.is_repo_id(request.model):
        raise FetchError("BadName", not_a_repo_id(request.model))
    client = asking(request.timeout, request.meter, request.waiting)
    try:
        return _Repo(client, place, request).documents()
    except BaseException:
        client.close()
        raise


def read_part(request: Request, client: Client) -> Documents | Place:
    """The same of a folder whose files and commit are known, by a client that others use; raises as `read` does."""
    return _Repo(client, hub.endpoint(), request).documents()


def asking(seconds: float, meter: Meter | None = None, waiting: Callable[[str], None] | None = None) -> Client:
    """A client of the Hub that the environment names; raises FetchError where that is none."""
    return Client(hub.endpoint().url, hub.headers(), hub.token(), Deadline(seconds, waiting), meter)


def listed(client: Client, request: Request) -> Listing | None:
    """The listing of a repo; None if the endpoint has none; raises FetchError as `read` does."""
    if not hub.is_repo_id(request.model):
        raise FetchError("BadName", not_a_repo_id(request.model))
    return _Repo(client, hub.endpoint(), request).listing(sure=True)


class _Repo:
    def __init__(self, client: Client, place: hub.Endpoint, request: Request) -> None:
        self.client, self.place, self.model, self.subfolder = client, place, request.model, request.subfolder
        self.path, self.asked, self.request = request.path, request.revision or "main", request
        self.commit = None if request.files is None else request.revision
        self.sizes: Mapping[str, int | None] | None = None
        self.treed = False
        self.early: Future[Reply | Denied | None] | None = None
        self.begun: Headers | None = None
        self.files = HubFiles(client, self.url, self.named, self.refused, self.document)

    def documents(self) -> Documents | Place:
        """The documents, from the cache as far as it has them."""
        with ThreadPoolExecutor(1) as pool:
            try:
                if self._unknown:  # so that its config is needed whatever the listing says
                    self.early = pool.submit(self._ahead)
                return self._documents()
            except BaseException:
                self.client.deadline.stop()  # nobody waits for the others
                if self.begun is not None:
                    self.begun.end()
                raise

    @property
    def _unknown(self) -> bool:
        """Whether the cache knows nothing of the repo, and requests are not limited."""
        if self.request.meter is not None or self.request.files is not None or self.request.file is not None:
            return False
        return not self.request.cache or not evidence_cache.knows(self.request, self.place.url)

    def _documents(self) -> Documents | Place:
        listing, config = self.listing(), None
        if listing is None:  # whoever answers knows files alone: the first of them says which commit it is
            config, listing = self._config_unlisted(), self._tree()
        self.sizes = None if listing is None else listing.sizes
        if (kept := self._kept()) is not None:
            self.sizes = kept.sizes
        if self._is_place():
            return self._place()
        documents = dict(kept.documents) if kept else {}
        documents |= {CONFIG: config} if config else {}
        missing = [name for name in self._wanted() if name not in documents]
        documents |= self._read(missing, ahead=kept is None)
        layout = layout_of(self.sizes or ())
        self._check_there(documents, layout)
        if (sizes := self._with_modules(documents.get(MODULES))) is not self.sizes:
            self.sizes, kept = sizes, kept and replace(kept, sizes=sizes, complete=False)
        others = module_files.configs(documents, self.sizes or (), partial(self._read, ahead=False))
        shards: Shards = HubShards(self.client, self.url, self.refused, self.sizes, self.begun)
        if kept is not None:
            shards = kept.shards(shards, more=bool(missing or others) or not kept.complete)
        documents |= others
        first, index, names = documents[layout.config], documents.get(layout.listing), top_level(self.sizes or ())
        return Documents(
            *(self.path, "hub", self.commit, first, index, shards, names),
            sizes=self.sizes,
            companions=others_of(documents, layout),
            place=self._place(),
            layout=layout,
        )

    @property
    def _has_weights(self) -> bool:
        """Whether the weights are in this folder, and not in those of the parts of a pipeline."""
        return layout_of(self.sizes or ()) is not PIPELINE_LAYOUT

    def _check_there(self, documents: Collection[str], layout: Layout) -> None:
        """Raises FetchError if the config or an index that is listed was not found."""
        for name in (layout.config, layout.listing):
            if name not in documents and (name == layout.config or name in (self.sizes or ())):
                raise FetchError("HubError", f"{self.named(name)} is listed and cannot be found. Try again.")

    def _is_place(self) -> bool:
        sizes = self.sizes
        return sizes is not None and (layout_of(sizes).config not in sizes or self.request.file is not None)

    def _place(self) -> Place:
        sizes, file = self.sizes or {}, self.request.file
        return Place(self.path, "hub", self.commit, sizes, self.files, self._no_config, file, local=False)

    def _kept(self) -> evidence_cache.CachedEvidence | None:
        """What was kept of the commit, as far as its listing has it."""
        if not self.request.cache or not self.commit:
            return None
        kept = evidence_cache.load(self.request, self.place.url, self.commit)
        return kept if kept is None or self.sizes is None else kept.under(self.sizes)

    def _wanted(self) -> list[str]:
        """The documents to read, as far as they may be there."""
        layout = layout_of(self.sizes or ())
        wanted = [name for name in (layout.config, layout.listing) if self.sizes is None or name in self.sizes]
        spoken = self.request.headers == "all" and self.request.meter is None  # else a run asks no more than it must
        return [*dict.fromkeys(wanted + companions(self.sizes or {}, spoken))]

    def _read(self, names: Collection[str], ahead: bool) -> dict[str, Document]:
        """Documents by name, as far as there are such; config.json last, since the Hub counts who asks for it.

        Args:
            ahead: whether headers that will be read in any case may be asked for besides.
        """
        with ThreadPoolExecutor(2) as pool:
            others = {name: pool.submit(self._companion, name) for name in names if name != CONFIG}
            try:
                if self.request.meter:  # whose quota may end here: a repo's config is to be asked for once
                    _ = [reading.result() for reading in others.values()]
                documents = {CONFIG: self.document(CONFIG)} if CONFIG in names else {}
                if ahead and self._has_weights and self.request.meter is None:  # and this repo may be read
                    self.begun = begun(self.client, self.url, self.refused, self.sizes, self.request.headers)
                documents |= {name: reading.result() for name, reading in others.items()}
            except BaseException:
                self.client.deadline.stop()  # nobody waits for the other one
                raise
        return {name: document for name, document in documents.items() if document}

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
        """The listing of the repo; None if the endpoint has none; with `sure`, a missing repo raises."""
        if self.commit is not None and self.request.files is not None:
            return Listing(self.commit, self.request.files)
        listing = read_listing(self._for_listing, self.asked, sure, self.refused)
        if listing is None:
            return None
        self.commit = listing.commit
        return listing.below(self.subfolder)

    def _tree(self) -> Listing | None:
        """The same in its other form, at the commit that is known; with config.json, which is known to be there."""
        self.treed = True
        sizes = tree(self._for_listing, self.commit, self.subfolder) if self.commit else None
        listing = Listing(self.commit or "", sizes or {}).below(self.subfolder)
        return listing if CONFIG in listing.sizes else None

    @property
    def _for_listing(self) -> ListingQuery:
        return ListingQuery(self.client, self.place, self.model, f"the listing of {self.label}")

    def _with_modules(self, modules: Document | None) -> Mapping[str, int | None] | None:
        """The listing with what modules.json names, where it may be of the files at the top alone."""
        if modules is None or self.sizes is None or self.commit is None or self.request.files is not None:
            return self.sizes
        if not self.treed and any("/" in name for name in self.sizes):
            return self.sizes
        query = self._for_listing
        return with_modules(query, self.commit, self.subfolder, modules, self.sizes, self.files.has)

    def _config_unlisted(self) -> Document:
        """config.json where nothing is listed; its answer names the commit."""
        config = self.document(CONFIG)
        if self.commit is None:
            raise unlike_a_hub(self.place.shown, self.label, has_config=config is not None)
        if config is None:
            raise self._no_config()
        return config

    def document(self, name: str) -> Document | None:
        """A document of the repo; None where there is none."""
        what, size, cap = self.named(name), (self.sizes or {}).get(name), CAPS.get(name, CAPS[CONFIG])
        if size is not None and size > cap:
            raise FetchError("UnreadableFile", f"{what} has {size:,} bytes; at most {cap:,} are read.")
        answer = (self._answered(size) if name == CONFIG else None) or self._ask(what, self.url(name), cap)
        self._learn(answer.commit)
        if isinstance(answer, Denied):
            if answer.status == 404 and answer.code in ("", "EntryNotFound"):
                return None
            raise self.refused(answer, what) from None
        if size is not None and size != len(answer.body):
            raise FetchError(
                "HubError",
                f"{what} has {size:,} bytes by the listing, and {self.place.shown} sent {len(answer.body):,}. Try"
                " again.",
            )
        return Document(f"{self.label} {name}", answer.body)

    def _ask(self, what: str, url: str, cap: int) -> Reply | Denied:
        try:
            return self.client.document(what, url, cap)
        except Denied as denied:
            return denied

    def _ahead(self) -> Reply | Denied | None:
        """config.json as the branch has it, asked for while the listing is; None where that does not work out."""
        with suppress(FetchError):
            return self._ask(self.named(CONFIG), self.url(CONFIG, self.asked), CAPS[CONFIG])
        return None

    def _answered(self, size: int | None) -> Reply | Denied | None:
        """The same, once, if it is of the commit that is known, if any is, and as long as listed."""
        early, self.early = self.early, None
        answer = early.result() if early is not None else None
        if answer is None or self.commit not in (None, answer.commit):
            return None
        return answer if isinstance(answer, Denied) or size in (None, len(answer.body)) else None

    def _companion(self, name: str) -> Document | None:
        """A further document."""
        if name not in (*TOKENS, *CHAT):
            return self.document(name)
        return self.files.of_tokenizer(name, self.label, top_level(self.sizes or ()))

    def _learn(self, commit: str) -> None:
        if self.commit is None and COMMIT.fullmatch(commit):
            self.commit = commit

    def _no_config(self) -> FetchError:
        names = self.sizes or ()
        if self.sizes is not None and not names:
            where = f"in {printable(self.subfolder)}. Check the name of the folder" if self.subfolder else "yet"
            return FetchError("NoConfig", f"{self.label} has no {CONFIG}: the repo has no files {where}.")
        adapter = self.document(ADAPTER) if ADAPTER in names else None
        return FetchError("NoConfig", f"{self.label} has no {CONFIG}{without_config(names, adapter)}.")

    def refused(self, denied: Denied, what: str) -> FetchError:
        """What an answer without the file means."""
        return refusal(denied, what, self.model, self.asked, self.label, self.place.shown)
