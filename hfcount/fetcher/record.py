"""Recording what was read, in the form that --fixtures replays."""

import os
from collections.abc import Mapping
from pathlib import Path

from hfcount.errors import FetchError
from hfcount.fetcher.interface import CONFIG, HEADERS, INDEX, Documents, label
from hfcount.fetcher.shards import Shard, recording
from hfcount.text import printable


def record(documents: Documents, shards: Mapping[str, Shard] | None, root: Path) -> Path:
    """Writes DIR/<model>/ and returns it; each file appears whole or not at all.

    Raises:
        FetchError: NotSaved, when a file cannot be written or an earlier recording of other files is in the way.
    """
    folder = root / _place(documents)
    beside = documents.files if documents.source == "hub" and documents.index is None and not shards else ()
    files = {
        CONFIG: documents.config.raw,
        INDEX: documents.index.raw if documents.index else None,
        HEADERS: recording(documents.revision, shards, beside),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, raw in files.items():
            if raw is None and (folder / name).exists():
                raise FetchError(
                    "NotSaved",
                    f"{printable(str(folder / name))} is from another recording, and"
                    f" {label(documents.model, documents.revision)} has no such file. Remove it, or save elsewhere.",
                )
        for name, raw in files.items():
            if raw is not None:
                write(folder / name, raw)
    except OSError as error:
        raise FetchError("NotSaved", f"cannot record to {printable(str(folder))}: {error.strerror}.") from None
    return folder


def _place(documents: Documents) -> Path:
    if documents.source == "folder":
        return Path(Path(documents.model).expanduser().resolve().name)
    return Path(documents.model)


def write(path: Path, raw: bytes) -> None:
    """Writes a file that appears whole or not at all, in the place of an earlier one."""
    import tempfile  # with what it brings it takes milliseconds, and few runs write

    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        os.chmod(temporary, 0o644)  # mkstemp lets nobody else read
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C, too, leaves no half of a file
        os.unlink(temporary)
        raise
