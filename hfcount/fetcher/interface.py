"""The interface of the sources: requests, and the documents that answer them."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from hfcount.errors import FetchError
from hfcount.fetcher.layout import (
    BIN_INDEX,
    CHAT_TEMPLATE,
    CONFIG,
    GENERATION,
    HEADERS,
    HF_LAYOUT,
    INDEX,
    MODULES,
    OPEN_CLIP,
    PARAMS,
    Layout,
)
from hfcount.fetcher.location import Place, SourceName
from hfcount.formats import vocabularies
from hfcount.formats.json import Document
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Piece, Samples
from hfcount.mapper.quantization_config import SIDE_FILES
from hfcount.record import Record, made
from hfcount.text import printable

if TYPE_CHECKING:
    from hfcount.fetcher.meter import Meter
    from hfcount.formats.pickles import Broken, Pickle

Pickles = Mapping[str, "Pickle | Broken"]
"""Pickled weight files that were read, by name."""

TOKENIZER, TOKENIZER_SETTINGS = "tokenizer.json", "tokenizer_config.json"
SPECIAL_TOKENS, ADDED_TOKENS = "special_tokens_map.json", "added_tokens.json"
TOKENS = (ADDED_TOKENS, TOKENIZER_SETTINGS, TOKENIZER)
"""The files that give tokens their ids."""

CHAT = (CHAT_TEMPLATE, *vocabularies.FILES)
"""What else is read of how a model is spoken to, where that needs no request."""

PROCESSORS = ("policy_preprocessor.json", "policy_postprocessor.json")
"""What names the statistics that a policy of LeRobot normalises by."""

COMPANIONS = (MODULES, PARAMS, OPEN_CLIP, BIN_INDEX, *SIDE_FILES, *PROCESSORS, GENERATION, *TOKENS, *CHAT)
"""Further documents, which are read where they bear on the verdict."""

CAPS = {CONFIG: 10_000_000, INDEX: 80_000_000, BIN_INDEX: 80_000_000, HEADERS: 128_000_000}
"""Bytes: a longer document is not read. The largest real index known is 60 MB; its headers are 100 MB."""

SHORT = 1_000_000
"""Bytes of a short document."""

LONGEST = 1_000_000
"""Seconds that a run may wait."""

TRANSIENT = (408, 429, 500, 502, 503, 504)
"""HTTP statuses after which a request is repeated."""

Early = Literal["all", "unindexed"]
"""Headers that a run reads whatever it finds: all of them, or those of a checkpoint without an index."""


def early(depth: str) -> Early | None:
    """The headers that a run of this depth reads in any case."""
    if depth in ("headers", "data"):
        return "all"
    return "unindexed" if depth == "auto" else None


class Request(Record, kw_only=False):
    """A checkpoint to read, and how to read it.

    Args:
        model: a local folder or a config's own .json file if there is one, else a repo id; with `fixtures`, a path
            below that folder.
        revision: branch, tag or commit of a repo.
        subfolder: a folder of the repo.
        offline: the cache only.
        timeout: seconds for all that is asked of the Hub, and to the end of a search for causes; at most LONGEST.
        cache: whether what was read before is read again from disk, and what is read now is kept there.
        files: bytes of the files of a repo by name, None for an unknown size, where they are known; `revision` is then
            the commit, and nothing is listed.
        meter: counts the requests to the Hub, where many runs share a quota.
        headers: which headers will be read in any case, so that they may be asked for early.
        file: a weight file of another format than safetensors that alone is asked for, or the end of its name.
        base: the model that MODEL was made of, as a folder, a config's own .json file or a repo.
        target: the model that MODEL proposes tokens for, likewise.
        tree: the local folder that MODEL was found below, if it was.
        waiting: called with what a run waits for, such as a server that asks to come back.
    """

    _uncompared: ClassVar = frozenset({"meter", "waiting"})

    model: str
    revision: str | None = None
    subfolder: str | None = None
    fixtures: Path | None = None
    offline: bool = False
    timeout: float = 300.0
    cache: bool = True
    files: Mapping[str, int | None] | None = None
    meter: "Meter | None" = None
    headers: Early | None = None
    file: str | None = None
    base: str | None = None
    target: str | None = None
    tree: str | None = None
    waiting: Callable[[str], None] | None = None

    def __hash__(self) -> int:
        return hash((self.model, self.revision, self.subfolder, self.fixtures, self.file))  # `files` is no key

    def _settle(self) -> None:
        if not 0 < self.timeout <= LONGEST:
            raise ValueError(f"the timeout is {self.timeout}, but must be above 0 and at most {LONGEST:,} seconds.")

    @property
    def path(self) -> str:
        """MODEL and its subfolder."""
        return f"{self.model}/{self.subfolder}" if self.subfolder else self.model

    def check_subfolder(self) -> None:
        """Raises FetchError (BadName) for a subfolder that could leave its repo: URLs hold it as it is written."""
        if self.subfolder is not None and not is_inside(self.subfolder):
            raise FetchError(
                "BadName", f"{printable(self.subfolder)} is not a folder inside a repo. Leave out `..` and `/`."
            )


Progress = Callable[[], None]
"""Called once for each file that is done."""


class Shards(Protocol):
    """Reads the headers of a checkpoint's weight files.

    `local` says that reading sends no request, so that a run may as well look; `names` are the files that are there,
    None where a request would be needed to list them; `whole` says that a file which is not found here is nowhere;
    `kept` are the files whose headers earlier runs have read of the same commit.
    """

    local: bool
    names: Collection[str] | None
    whole: bool
    kept: Collection[str]

    def sizes(self, wanted: Collection[str]) -> Mapping[str, int | None] | None:
        """Bytes of those of the files that are there, None for an unknown size; None where no file is known."""

    def read(self, wanted: Collection[str], done: Progress) -> Mapping[str, Shard]:
        """The shards of those names; a file that does not exist is left out.

        Raises:
            FetchError: they could not be read.
        """

    def pickles(self, wanted: Collection[str], done: Progress) -> Pickles:
        """The pickled files of those names, without running them; a file that does not exist is left out.

        Raises:
            FetchError: they could not be read.
        """

    def sample(self, wanted: Collection[Piece]) -> Samples:
        """The digests of pieces of the files, as far as they can be had.

        Raises:
            FetchError: they could not be read.
        """

    def close(self) -> None:
        """Ends whatever is open."""


class Reads:
    """Wraps Shards and remembers what was read; `headers` are None if none were."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self.local, self.names, self.whole, self.kept = shards.local, shards.names, shards.whole, shards.kept
        self.folder: Path | None = getattr(shards, "folder", None)  # only files on disk have one
        self.headers: Mapping[str, Shard] | None = None
        self.pickled: Pickles = {}
        self.samples: Samples = {}

    def sizes(self, wanted: Collection[str]) -> Mapping[str, int | None] | None:
        """See Shards."""
        return self._shards.sizes(wanted)

    def read(self, wanted: Collection[str], done: Progress) -> Mapping[str, Shard]:
        """See Shards."""
        shards = self._shards.read(wanted, done)
        self.headers = {**(self.headers or {}), **shards} or None
        return shards

    def pickles(self, wanted: Collection[str], done: Progress) -> Pickles:
        """See Shards."""
        pickles = self._shards.pickles(wanted, done)
        self.pickled = {**self.pickled, **pickles}
        return pickles

    def sample(self, wanted: Collection[Piece]) -> Samples:
        """See Shards."""
        self.samples = self._shards.sample(wanted)
        return self.samples

    def close(self) -> None:
        """See Shards."""
        self._shards.close()


class Documents(Record, kw_only=False):
    """The documents of one checkpoint, at one commit.

    Args:
        shards: reads the headers of the weight files.
        files: names of the other files in the same folder, where they were listed.
        alone: whether MODEL is the config's own file, so that nothing else was looked for.
        sizes: bytes of all files by their names, those in folders below included, where they were listed with their
            sizes.
        companions: further documents by name: of COMPANIONS, and the configs of modules.
        place: reads any other file; None if only the documents are available.
        layout: which files are the config, the weights and the index.
        loaded_as: overrides of config keys, such as the class that a pipeline's index names.
        base: gives the config of another model, which the config names: that of --base or, where it is said to ask for
            it unasked, of the repo of that name; None where neither tells it.
    """

    _uncompared: ClassVar = frozenset({"base"})

    model: str
    source: SourceName
    revision: str | None
    config: Document
    index: Document | None
    shards: Shards
    files: Collection[str] = ()
    alone: bool = False
    sizes: Mapping[str, int | None] | None = None
    companions: Mapping[str, Document] = made(factory=dict)
    place: Place | None = None
    layout: Layout = HF_LAYOUT
    loaded_as: Mapping[str, Any] = made(factory=dict)
    base: "Callable[[str, bool], Document | None] | None" = None


class Source(Protocol):
    """A source of documents: a module of this folder with these two functions."""

    def takes(self, request: Request) -> bool:
        """Whether this source answers a request that the sources before it declined."""

    def read(self, request: Request) -> Documents | Place:
        """The documents of a request that it takes; where there is no config.json, or a file is named, the place.

        Raises:
            FetchError: they could not be read.
        """


def label(model: str, revision: str | None) -> str:
    """A model with its revision, as messages call it; of a commit the first 7 digits."""
    if not revision:
        return printable(model)
    return printable(f"{model}@{revision[:7] if is_commit(revision) else revision}")


def is_commit(revision: str) -> bool:
    """Whether a revision is a full commit."""
    return re.fullmatch(r"[0-9a-f]{40}", revision) is not None


def is_inside(folder: str) -> bool:
    """Whether a folder is one inside of a repo, however it is written into an address."""
    return {"", ".", ".."}.isdisjoint(folder.split("/")) and not re.search(r"[\\%\0:]", folder)


def top_level(names: Iterable[str]) -> list[str]:
    """The names of files at the top level; files in subfolders belong to other models."""
    return [name for name in names if "/" not in name]
