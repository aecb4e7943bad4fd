"""Makes the lock of a checkpoint: an in-toto Statement v1, the same to the byte for the same input.

Source: in-toto attestation framework, spec/v1/statement.md and resource_descriptor.md.
"""

import json
import math
import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hfcount.checkpoints.inspect import inspect
from hfcount.checkpoints.inspection import Options
from hfcount.diffing.locks.folding import folded
from hfcount.diffing.locks.headers import WeightHeader, digest, headers
from hfcount.diffing.locks.roles import LOCK, role
from hfcount.errors import DocumentError, FetchError, HfcountError
from hfcount.fetcher import Request
from hfcount.fetcher.checkpoint_files import CheckpointFiles, checkpoint_files
from hfcount.fetcher.interface import CAPS
from hfcount.fetcher.layout import CONFIG
from hfcount.formats.json import Document, parse_value
from hfcount.text import printable
from hfcount.version import PAGES, __version__

if TYPE_CHECKING:
    from hfcount.report.model import Report

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = f"{PAGES}/lock.md#v"
"""The predicate type, before the number of the schema."""

SCHEMA = 1
"""The version of what the predicate holds; later ones add what this one does not know."""

Json = dict[str, Any]


def locked(request: Request, options: Options, path: Path) -> Json:
    """The statement about a checkpoint.

    Args:
        path: where it will be written, which may be in the folder of the checkpoint.

    Raises:
        FetchError: a file cannot be read, has no size, or has a name that is no Unicode.
    """
    source = of_model(checkpoint_files(request), path)
    names = sorted(source.sizes)
    for name in names:
        if not _is_unicode(name):
            raise FetchError("BadName", f"the name of {printable(name)} is not Unicode. Rename it.")
    if not names:
        raise FetchError("NoConfig", f"{printable(request.path)} has no files to lock.")
    digests = source.digests(names, options.reading)
    _check(digests.values())
    for name in names:
        if source.sizes[name] is None:
            text = f"no size is listed for {printable(name)}. Download the repo, and name its folder."
            raise FetchError("HubError", text)
    weights = [name for name in names if role(name, source.sizes[name]) == "weights"]
    answers = headers(source, weights)
    _check(answers.values())
    read_headers = {name: header for name, header in answers.items() if isinstance(header, WeightHeader)}
    files: dict[str, Json] = {}
    for name in names:
        header = read_headers.get(name)
        files[name] = {
            "bytes": source.sizes[name],
            "sha256_from": "listing" if name in source.listed else "content",
            **({"header": header.sha256} if header else {}),
            **({"metadata": header.metadata} if header and header.metadata is not None else {}),
        }
    predicate = {
        "schema": SCHEMA,
        "hfcount": __version__,
        **_origin(source, request),
        "configs": configs(source, names),
        "files": files,
        "tensors": folded(tensor for header in read_headers.values() for tensor in header.tensors),
        **_verdict(request, source, options),
    }
    subject = [{"name": name, "digest": {"sha256": digests[name]}} for name in names]
    return {"_type": STATEMENT, "subject": subject, "predicateType": f"{PREDICATE}{SCHEMA}", "predicate": predicate}


def written(statement: Json) -> bytes:
    """A statement as it is signed: indented, keys sorted, ASCII."""
    return f"{json.dumps(statement, indent=1, sort_keys=True, allow_nan=False)}\n".encode()


def of_model(source: CheckpointFiles, lock: Path | None = None) -> CheckpointFiles:
    """The files that MODEL names: of a GGUF file that is named, that file or its split set alone.

    Args:
        lock: a file that may lie among them, and is none of them.
    """
    sizes = {name: size for name, size in source.sizes.items() if name.rpartition("/")[2] != LOCK}
    if source.folder is not None and lock is not None:
        place = os.path.realpath(lock)  # Path.resolve raises where a link leads to itself, up to Python 3.12
        sizes = {name: size for name, size in sizes.items() if os.path.realpath(source.folder / name) != place}
    source = source._replace(sizes=sizes)
    if source.named is None:
        return source
    from hfcount.checkpoints.gguf.split_set import split_name

    named = [name for name in source.sizes if name == source.named]
    named = named or [name for name in source.sizes if fnmatchcase(name, f"*{source.named}*.gguf")]
    parts = {split for name in named if (split := split_name(name))}
    stems = {(part[0], part[2]) for part in parts}
    kept = {
        name: size
        for name, size in source.sizes.items()
        if name in named or ((split := split_name(name)) and (split[0], split[2]) in stems)
    }
    return source._replace(sizes=kept)


def _check(answers: Iterable[object]) -> None:
    """Raises the first FetchError among what was read."""
    if error := next((answer for answer in answers if isinstance(answer, FetchError)), None):
        raise error


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _origin(source: CheckpointFiles, request: Request) -> Json:
    if source.repo is None:
        return {}
    inner = {"subfolder": request.subfolder} if request.subfolder else {}
    return {"repo": source.repo, "revision": source.revision, **inner}


def configs(source: CheckpointFiles, names: Iterable[str]) -> dict[str, Json]:
    """The configs of a checkpoint by their paths: their values, and the sha256 of these in canonical form."""
    made: dict[str, Json] = {}
    for name in names:
        if role(name) == "config" and (values := config_values(source, name)) is not None:
            made[name] = {"sha256": digest(values), "values": values}
    return made


def config_values(source: CheckpointFiles, name: str) -> Json | None:
    """The values of a config, numbers that are not finite as texts; None if it is no object of JSON, or too large."""
    if (source.sizes[name] or 0) > CAPS[CONFIG]:
        return None
    try:
        value = parse_value(Document(name, source.document(name)), endless=True)
    except DocumentError:
        return None
    return _finite(value) if isinstance(value, dict) else None


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    return value


def _verdict(request: Request, source: CheckpointFiles, options: Options) -> Json:
    """What hfcount says of the checkpoint, without what may change from run to run."""
    pinned = request.replace(revision=source.revision) if source.repo and source.revision else request
    if source.folder is not None:
        pinned = pinned.replace(offline=True)
    try:
        report = inspect(pinned, options)
    except HfcountError as error:
        return {"verdict": "unverified", "error": error.kind, "findings": [], "loaders": []}
    return {"verdict": report.verdict, "findings": _codes(report), "loaders": _loaders(report)}


def _codes(report: "Report") -> list[str]:
    return sorted({finding.code for finding in report.findings})


def _loaders(report: "Report") -> list[Mapping[str, Any]]:
    return [
        {"loader": loader.loader, "version": loader.version, "outcome": loader.outcome, "home": loader.home}
        for loader in report.loaders
    ]
