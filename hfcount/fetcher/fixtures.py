"""Recorded checkpoints: folders that --save writes and --fixtures reads."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import files
from hfcount.fetcher.folder import local_path, read_folder
from hfcount.fetcher.interface import COMPANIONS, Documents, Pickles, Progress, Reads, Request, Shards, label, top_level
from hfcount.fetcher.layout import CONFIG, HEADERS, HF_LAYOUT, MODEL_INDEX, MODULES, layout_of
from hfcount.fetcher.location import Place
from hfcount.formats.recording import Recording, read_recording, recorded_shard, recording
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Piece, Samples
from hfcount.text import printable


def takes(request: Request) -> bool:
    """Whether --fixtures is given; MODEL is then a path below it."""
    return request.fixtures is not None


def read(request: Request) -> Documents | Place:
    """The recording of one checkpoint."""
    model, root = request.path, request.fixtures or Path()
    shown = printable(str(root))
    if not os.path.isdir(root):
        raise FetchError("NoSuchFolder", f"{shown} is not a folder. Check --fixtures.")
    path = PurePosixPath(model)
    if path.is_absolute() or ".." in path.parts or "\0" in model:
        raise FetchError("BadName", f"{printable(model)} is not a path below {shown}. Leave out `..` and `/`.")
    folder = root / path
    if not os.path.isdir(folder):
        raise FetchError(
            "NoSuchFolder",
            f"{printable(str(folder))} is not a folder. `hfcount --fixtures {shown} --all` reads all checkpoints in"
            " it.",
        )
    headers = files.read(folder / HEADERS)
    try:
        recorded = read_recording(headers) if headers else Recording()
    except DocumentError as error:
        raise FetchError("UnreadableFile", str(error)) from None
    # Messages name a recorded document as the run did that recorded it.
    shown = label(model, recorded.revision)
    documents = read_folder(folder, model, "fixtures", recorded.revision, shown, request.file)
    if isinstance(documents, Place):
        return documents
    if recorded.files is None and recorded.sizes is None and not recorded.pickles:
        return documents.replace(files=[*documents.files, *recorded.others])
    if documents.layout is HF_LAYOUT and documents.index is None:  # what was recorded may be of another library
        names = {*documents.files, *(recorded.sizes or recorded.files or ())}
        documents = documents.replace(layout=layout_of(names))
    return documents.replace(
        shards=RecordedShards(recorded.files or {}, recorded.sizes, samples=recorded.samples, pickles=recorded.pickles),
        files=[*documents.files, *recorded.others, *top_level(recorded.sizes or ())],
        sizes=recorded.sizes,
    )


def all_fixtures(root: Path) -> list[str]:
    """Every path below `root` that holds a config.json, or an index of modules or of parts, but none that it names.

    Raises:
        FetchError: NoSuchFolder or NoConfig.
    """
    if not os.path.isdir(root):
        raise FetchError("NoSuchFolder", f"{printable(str(root))} is not a folder. Check --fixtures.")
    wholes = {path.parent for name in (MODULES, MODEL_INDEX) for path in root.rglob(name)}
    places = wholes | {path.parent for path in root.rglob(CONFIG) if wholes.isdisjoint(path.parent.parents)}
    paths = sorted(path.relative_to(root).as_posix() for path in places)
    if not paths:
        raise FetchError("NoConfig", f"no {CONFIG} anywhere below {printable(str(root))}.")
    return paths


if TYPE_CHECKING:
    from hfcount.formats.pickles import Broken, Pickle


class RecordedShards:
    """Weight files whose headers an earlier run recorded; `otherwise` reads those that are not recorded.

    `asked` says whether it has. Without a listing it also says what there is.
    """

    kept: Collection[str] = ()

    def __init__(
        self,
        recorded: Mapping[str, Any],
        sizes: Mapping[str, int | None] | None = None,
        otherwise: Shards | None = None,
        samples: Samples = MappingProxyType({}),
        pickles: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._recorded, self._otherwise, self._samples, self._pickles = recorded, otherwise, samples, pickles
        self.asked, self.local, self.whole = False, otherwise is None or otherwise.local, True
        self._listed = sizes is not None or otherwise is None
        known = {name: entry.get("bytes") for name, entry in (*recorded.items(), *pickles.items())}
        self._sizes = known if sizes is None else sizes
        shard_names = [name for name in top_level(self._sizes) if name.endswith(".safetensors")]
        self.names: Collection[str] | None = shard_names if otherwise is None or self._listed else otherwise.names

    def sizes(self, wanted: Collection[str]) -> Mapping[str, int | None] | None:
        """Bytes of those of the files that were there."""
        if self._otherwise is not None and not self._listed:
            return self._otherwise.sizes(wanted)
        return {name: self._sizes[name] for name in wanted if name in self._sizes}

    def close(self) -> None:
        """Ends all connections."""
        if self._otherwise is not None:
            self._otherwise.close()

    def read(self, wanted: Collection[str], done: Progress) -> Mapping[str, Shard]:
        """The shards of those names; a file that does not exist is left out.

        Raises:
            FetchError: one that is not recorded could not be read.
        """
        shards = {name: recorded_shard(name, self._recorded[name]) for name in wanted if name in self._recorded}
        rest = [name for name in wanted if name not in shards]
        if rest and self._otherwise is not None:
            for _ in shards:
                done()
            shards |= (asked := self._otherwise.read(rest, done))
            self.asked |= bool(asked)
        return shards

    def pickles(self, wanted: Collection[str], done: Progress) -> Pickles:
        """The pickled files that are recorded or can be read; raises as `read` does."""
        pickles = _read_pickles({name: self._pickles[name] for name in wanted if name in self._pickles})
        rest = [name for name in wanted if name not in pickles]
        if rest and self._otherwise is not None:
            for _ in pickles:
                done()
            pickles |= (asked := self._otherwise.pickles(rest, done))
            self.asked |= bool(asked)
        return pickles

    def sample(self, wanted: Collection[Piece]) -> Samples:
        """The digests of pieces of the files, as far as they are recorded or can be read; raises as `read` does."""
        digests = {piece: self._samples[piece] for piece in wanted if piece in self._samples}
        rest = [piece for piece in wanted if piece not in digests]
        if rest and self._otherwise is not None:
            digests |= (asked := self._otherwise.sample(rest))
            self.asked |= bool(asked)
        return digests


def _read_pickles(recorded: Mapping[str, Any]) -> "dict[str, Pickle | Broken]":
    if not recorded:
        return {}
    from hfcount.formats.pickles.recorded import read  # most recordings have none

    try:
        return {name: read(name, entry) for name, entry in recorded.items()}
    except ValueError as error:
        raise FetchError("UnreadableFile", f"{HEADERS}: {printable(str(error))}.") from None


def recorded_pickles(pickles: Pickles) -> dict[str, Any]:
    """Pickled files that were read, for a recording."""
    if not pickles:
        return {}
    from hfcount.formats.pickles.recorded import written

    return {name: written(file) for name, file in pickles.items()}


def record(
    documents: Documents,
    shards: Mapping[str, Shard] | None,
    samples: Samples,
    sizes: Mapping[str, int | None] | None,
    root: Path,
    pickles: Pickles = MappingProxyType({}),
) -> Path:
    """Records what was read in DIR/<model>/, and returns that folder; files are written atomically.

    Args:
        shards: headers by file; None if none were read.
        samples: pieces of the files that were read.
        sizes: bytes of the files that are there, by name; None where they were not listed.
        pickles: pickled files that were read.

    Raises:
        FetchError: NotSaved, when a file cannot be written or an earlier recording of other files is in the way.
    """
    from_folder = documents.source == "folder"
    folder = root / (
        os.path.basename(os.path.realpath(local_path(documents.model))) if from_folder else documents.model
    )
    others = documents.files if documents.source == "hub" and not (documents.index or shards or sizes) else ()
    recorded = {
        **dict.fromkeys(COMPANIONS),
        documents.layout.config: documents.config.raw,
        documents.layout.listing: documents.index.raw if documents.index else None,
        **{name: document.raw for name, document in documents.companions.items()},
        HEADERS: recording(documents.revision, shards, others, sizes, samples, recorded_pickles(pickles)),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, raw in recorded.items():
            if raw is None and (folder / name).exists():
                raise FetchError(
                    "NotSaved",
                    f"{printable(str(folder / name))} is from another recording, and"
                    f" {label(documents.model, documents.revision)} has no such file. Remove it, or save elsewhere.",
                )
        for name, raw in recorded.items():
            if raw is not None:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                files.write(folder / name, raw)
    except OSError as error:
        raise FetchError("NotSaved", f"cannot record to {printable(str(folder))}: {error.strerror}.") from None
    return folder


def record_parts(documents: Documents, parts: Mapping[str, Documents], root: Path) -> Path:
    """Records a pipeline and its parts, and returns its folder; raises as `record` does.

    Args:
        documents: of the folder with the pipeline's index; parts: by name. What was read of each is in its `Reads`.
    """
    root_reads = documents.shards
    assert isinstance(root_reads, Reads)
    folder = record(documents, root_reads.headers, root_reads.samples, documents.sizes, root, root_reads.pickled)
    for name, part in parts.items():
        reads = part.shards
        assert isinstance(reads, Reads)
        local = documents.source == "folder"
        recorded = part.replace(model=f"{documents.model}/{name}" if local else part.model)
        record(recorded, reads.headers, reads.samples, part.sizes, folder if local else root, reads.pickled)
    return folder
