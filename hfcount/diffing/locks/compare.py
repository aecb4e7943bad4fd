"""Holds a checkpoint against its lock."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from hfcount.checkpoints.inspection import unread
from hfcount.diffing import configs
from hfcount.diffing.config_effects import of_adapter, of_gguf
from hfcount.diffing.listing import blueprint_of
from hfcount.diffing.locks.folding import Row, StoredTensor, folded, set_of, unfolded
from hfcount.diffing.locks.headers import WeightHeader, headers
from hfcount.diffing.locks.model import Change, FileChange, LockCheck, LockedTensor, NotedFile, What
from hfcount.diffing.locks.parse import Lock
from hfcount.diffing.locks.roles import Role, is_pickle, role
from hfcount.diffing.locks.statement import config_values, of_model
from hfcount.diffing.pieces import ConfigKey, Effect
from hfcount.errors import FetchError, HfcountError
from hfcount.fetcher import Request
from hfcount.fetcher.checkpoint_files import CheckpointFiles, Reading, checkpoint_files
from hfcount.options import AskedDepth
from hfcount.report.figures import Failure
from hfcount.text import plural, printable

Forms = tuple[StoredTensor | None, StoredTensor | None]
"""A tensor as it was locked, and as it is now; None where it is not there."""

Changed = dict[tuple[str, str], Forms]
"""Tensors that are not as they were locked, by set of shards and name."""

_ADAPTER = "adapter_config.json"
_EFFECTS: Mapping[Effect, str] = {
    "tensors": "the tensors",
    "storage": "how tensors are stored",
    "reading": "what the model computes or how it is used",
    "training": "training alone",
    "none": "nothing of the model",
    "unknown": "something that hfcount does not know",
}
_HASHED: Mapping[AskedDepth, tuple[Role, ...]] = {
    "config": ("config", "other"),
    "index": ("config", "other", "index"),
    "headers": ("config", "other", "index"),
}
"""Roles of files whose content is read at each depth; all at the others."""


def check(
    request: Request,
    lock: Lock,
    path: Path,
    depth: AskedDepth,
    reading: Reading = unread,
    missing: HfcountError | None = None,
) -> LockCheck:
    """Whether a checkpoint is as it was locked.

    Args:
        path: of the lock, which may lie in the folder of the checkpoint.
        reading: as of Options.
        missing: why the request names no checkpoint.
    """
    facts: dict[str, Any] = {"model": printable(request.path), "lock": printable(str(path))}
    facts |= {"depth": "data" if depth == "auto" else depth, "locked_verdict": _verdict(lock)}
    try:
        if missing is not None:
            raise missing
        source = of_model(checkpoint_files(request), path)
        comparison = _Comparison(source, lock, depth, reading)
        changes = sorted(comparison.changes(), key=_file)
    except HfcountError as error:
        return LockCheck(agrees=None, error=Failure(kind=error.kind, message=str(error)), **facts)
    shown = [change for change in changes if comparison.role(change.file) != "unread"]
    noted = tuple(
        NotedFile(file=change.file, change=change.change)
        for change in changes
        if comparison.role(change.file) == "unread"
    )
    unreadable = bool(shown) and all(change.change == "unreadable" for change in shown)
    return LockCheck(
        agrees=None if unreadable else not shown,
        checked=comparison.agreeing,
        differences=tuple(shown),
        noted=noted,
        not_checked=tuple(comparison.not_checked()),
        **facts,
    )


def _file(change: FileChange) -> str:
    return change.file


def _verdict(lock: Lock) -> str | None:
    verdict = lock.predicate.get("verdict")
    return printable(verdict) if isinstance(verdict, str) else None


class _Comparison:
    """The files of a checkpoint beside those of its lock."""

    def __init__(self, source: CheckpointFiles, lock: Lock, depth: AskedDepth, reading: Reading) -> None:
        self.source, self.lock, self.depth, self.reading = source, lock, depth, reading
        self.agreeing = 0
        self.there = {name for name, size in source.sizes.items() if size is not None}

    def role(self, name: str) -> Role:
        """The role of a file, by its locked size where it was locked."""
        facts = self.lock.files.get(name)
        return role(name, facts["bytes"] if facts else self.source.sizes.get(name))

    def changes(self) -> Iterator[FileChange]:
        """Every file that is not as it was locked."""
        locked, there = self.lock.digests, self.there
        added, missing = sorted(there - locked.keys()), sorted(locked.keys() - there)
        both = sorted(locked.keys() & there)
        hashed = [name for name in both if self._is_hashed(name)]
        digests = self.source.digests(hashed, self.reading)
        known = self._digests_of_added(added, missing)
        for name in missing:
            yield self._missing(name, known)
        for name in added:
            yield self._added(name, known)
        for name in both:
            digest = digests.get(name)
            error = digest if isinstance(digest, FetchError) else self._unread_header(name)
            if error is not None:
                text = f"{str(error).rstrip('.')}; check again when it can be read"
                yield _change(name, "unreadable", "content", text)
            elif self._differs(name, digest):
                yield self._changed(name, digest)
            else:
                self.agreeing += 1

    def not_checked(self) -> Iterator[str]:
        """What this depth does not look at."""
        there = [name for name in self.lock.digests if name in self.there and not self._is_hashed(name)]
        left = [name for name in there if self.role(name) != "unread"]
        if not left:
            return
        weights = [name for name in left if self.role(name) == "weights"]
        size = sum(self.lock.files[name]["bytes"] for name in weights)
        if weights:
            how = "headers and sizes" if self.depth == "headers" else "sizes"
            many = plural(len(weights), "weight file")
            yield f"the values of {many} ({size:,} bytes): only their {how} were compared"
        if blind := [name for name in weights if self.depth == "headers" and not self._has_header(name)]:
            yield f"what {', '.join(map(printable, blind[:3]))} holds: hfcount knows no header of it"
        if others := len(left) - len(weights):
            yield f"the content of {plural(others, 'other file')}: only sizes were compared"

    def _has_header(self, name: str) -> bool:
        return isinstance(self._headers.get(name), WeightHeader) and "header" in self.lock.files[name]

    def _unread_header(self, name: str) -> FetchError | None:
        """Why the header of a file whose content is not read cannot be read either."""
        header = self._headers.get(name) if self.depth == "headers" and not self._is_hashed(name) else None
        return header if isinstance(header, FetchError) else None

    def _is_hashed(self, name: str) -> bool:
        roles = _HASHED.get(self.depth)
        return roles is None or self.role(name) in roles or (name in self.source.listed)

    def _digests_of_added(self, added: list[str], missing: list[str]) -> dict[str, str]:
        """The files that were added, by their digest, if one may be a file that is missing."""
        sizes = {self.lock.files[name]["bytes"] for name in missing}
        alike = [name for name in added if self.source.sizes[name] in sizes and self._is_hashed(name)]
        digests = self.source.digests(alike, unread)
        return {digest: name for name, digest in digests.items() if isinstance(digest, str)}

    def _differs(self, name: str, digest: str | FetchError | None) -> bool:
        facts = self.lock.files[name]
        if digest is not None:
            return digest != self.lock.digests[name]
        if self.source.sizes[name] != facts["bytes"]:
            return True
        return self.depth == "headers" and self._has_other_header(name)

    def _has_other_header(self, name: str) -> bool:
        """Whether a header was locked and read, and is not the same."""
        header, facts = self._headers.get(name), self.lock.files.get(name, {})
        return isinstance(header, WeightHeader) and facts.get("header", header.sha256) != header.sha256

    def _missing(self, name: str, known: Mapping[str, str]) -> FileChange:
        renamed = known.get(self.lock.digests[name])
        text = f"it is now called {printable(renamed)}" if renamed else "it is not there"
        if name in self.source.sizes:
            text = "it is a broken link, or no file"
        return _change(name, "missing", self._what(name), text, renamed=renamed and printable(renamed))

    def _added(self, name: str, known: Mapping[str, str]) -> FileChange:
        former = next((old for old, digest in self.lock.digests.items() if known.get(digest) == name), None)
        text = f"it holds what {printable(former)} held" if former else "the lock does not have it"
        return _change(name, "added", self._what(name), text)

    def _what(self, name: str) -> What:
        kind = self.role(name)
        return "tensors" if kind == "weights" else kind if kind in ("config", "index") else "content"

    def _changed(self, name: str, digest: str | FetchError | None) -> FileChange:
        kind = self.role(name)
        if kind == "config":
            return self._config(name)
        if kind == "weights":
            return self._weights(name)
        if kind == "index":
            return _change(
                name, "changed", "index", "it lists tensors or their files otherwise, or is written otherwise"
            )
        locked, size = self.lock.files[name]["bytes"], self.source.sizes[name]
        if locked != size:
            return _change(
                name, "changed", "content", f"its content is another ({locked:,} bytes were locked, {size:,} are there)"
            )
        text = f"its content is another (sha256 {self.lock.digests[name]} was locked, {digest} is there)"
        return _change(name, "changed", "content", text)

    def _config(self, name: str) -> FileChange:
        kept = self.lock.predicate["configs"].get(name)
        locked, now = kept["values"] if kept else None, config_values(self.source, name)
        if locked is None or now is None:
            text = "it is no object of JSON" if now is None else "the lock does not have its values"
            return _change(name, "changed", "config", text)
        keys = _keys(name, locked, now)
        if not keys:
            same = "the same values" if locked == now else "values that mean the same to every known reader"
            return _change(name, "changed", "config", f"it has {same}, written otherwise")
        effects = dict.fromkeys(key.effect for key in keys)
        text = f"{plural(len(keys), 'key')} changed: {', '.join(_EFFECTS[effect] for effect in effects)}"
        return _change(name, "changed", "config", text, keys=keys)

    def _weights(self, name: str) -> FileChange:
        facts, now = self.lock.files[name], self._headers.get(name)
        sizes = self.source.sizes[name], facts["bytes"]
        length = "" if sizes[0] == sizes[1] else f" ({sizes[1]:,} bytes were locked, {sizes[0]:,} are there)"
        if not isinstance(now, WeightHeader) or "header" not in facts:
            unread = "its header cannot be read" if "header" in facts else "hfcount knows no header of it"
            unread = "its header was not read" if self.depth in ("config", "index") else unread
            return _change(name, "changed", "content", f"its bytes are others, and {unread}{length}")
        if now.sha256 == facts["header"]:
            how = ", or how they are pickled" if is_pickle(name) else ""
            return _change(name, "changed", "values", f"its values{how}; names, shapes and dtypes are the same{length}")
        tensors, text = self._tensors_of(name)
        if text:
            return _change(name, "changed", "tensors" if tensors else "content", f"{text}{length}", tensors=tensors)
        keys = configs.plain(facts.get("metadata") or {}, now.metadata or {}, of_gguf)
        text = "the tensors are the same, but its header is another: metadata, or the places or files of tensors"
        return _change(name, "changed", "header", f"{text}{length}", keys=keys)

    @cached_property
    def _headers(self) -> dict[str, WeightHeader | FetchError]:
        """The headers of the weights that are there, or why one cannot be read."""
        if self.depth in ("config", "index"):
            return {}
        return headers(self.source, [name for name in sorted(self.there) if self.role(name) == "weights"])

    def _tensors_of(self, name: str) -> tuple[tuple[LockedTensor, ...], str]:
        """The tensors of a weight file that are not as they were locked, and a text; it is empty if all are.

        Of a set of shards each file has those that its header lists now. A tensor that is in none of the changed files
        is with the one file that may have lost it, or with the first of several; with none where a shard was not read.
        """
        if self._tensors is None:
            return (), "its header is another, and the lock does not tell apart which tensors it had"
        kept = set_of(name)
        files = sorted(file for file in self._read if set_of(file) == kept and self._has_other_header(file))
        own, left = self._blamed(kept, name, files)
        unread = sorted(file for file in self.lock.digests if set_of(file) == kept and file not in self._read)
        if files == [name] and not unread:
            own, left = {**own, **left}, {}
        texts = [f"{plural(len(own), 'tensor')} changed"] if own else []
        if left and unread:
            texts.append(f"which tensors left it is not known, because {printable(unread[0])} was not read")
        elif left and name != files[0]:
            texts.append(f"what else changed in its set of shards is said of {printable(files[0])}")
        elif left:
            texts.append(f"{plural(len(left), 'tensor')} of its set of shards changed or left")
            own |= left
        return tuple(_rows(own)), "; ".join(texts)

    def _blamed(self, kept: str, name: str, files: Collection[str]) -> tuple[Changed, Changed]:
        """The changed tensors of a set that are in one file now, and those that are in none of the changed files."""
        changed = {key: forms for key, forms in (self._tensors or {}).items() if key[0] == kept}
        own = {key: forms for key, forms in changed.items() if self._places.get(key) == name}
        return own, {key: forms for key, forms in changed.items() if self._places.get(key) not in files}

    @cached_property
    def _places(self) -> dict[tuple[str, str], str]:
        """The file that each tensor is in now, by set and name."""
        return {(tensor.file, tensor.name): file for file, header in self._read.items() for tensor in header.tensors}

    @property
    def _read(self) -> dict[str, WeightHeader]:
        return {file: header for file, header in self._headers.items() if isinstance(header, WeightHeader)}

    @cached_property
    def _tensors(self) -> Changed | None:
        """The tensors that are not as they were locked, by set and name; None if the lock's rows do not tell them."""
        now = folded(tensor for header in self._read.values() for tensor in header.tensors)
        locked = self.lock.predicate["tensors"]
        then_rows, now_rows = ({_row_key(row) for row in rows} for rows in (locked, now))
        before = unfolded(row for row in locked if _row_key(row) not in now_rows)
        after = unfolded(row for row in now if _row_key(row) not in then_rows)
        if before is None or after is None:
            return None
        return {
            key: (before.get(key), after.get(key)) for key in (*before, *after) if before.get(key) != after.get(key)
        }


def _row_key(row: Row) -> tuple[str, ...]:
    return row["file"], row["name"], row["dtype"], str(row["shape"]), row["sha256"]


def _rows(changed: Changed) -> Iterator[LockedTensor]:
    """The tensors that differ, folded by what they were and are."""
    groups: dict[tuple[str | None, str | None], list[StoredTensor]] = {}
    for then, now in changed.values():
        if (tensor := then or now) is not None:
            groups.setdefault((_form(then), _form(now)), []).append(tensor)
    for (then_form, now_form), tensors in groups.items():
        plain = (tensor._replace(dtype="", shape=()) for tensor in tensors)
        for row in folded(plain):
            facts = {"name": printable(row["name"]), "file": printable(row["file"]), "tensors": row["tensors"]}
            yield LockedTensor(**facts, locked=then_form, now=now_form)


def _form(tensor: StoredTensor | None) -> str | None:
    return f"{tensor.dtype} {list(tensor.shape)}" if tensor else None


def _keys(name: str, locked: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[ConfigKey, ...]:
    """The keys of a config that have other values, by their effect."""
    last = name.rpartition("/")[2]
    if last == _ADAPTER:
        return configs.plain(locked, now, of_adapter)
    if last == "config.json":
        keys = configs.compare(locked, now, (blueprint_of(dict(locked)), blueprint_of(dict(now))))
        return keys or configs.plain(locked, now, _none)
    return configs.plain(locked, now, _reading)


def _none(key: str) -> Effect:
    """The effect of keys that are written otherwise and mean the same to every known reader."""
    del key
    return "none"


def _reading(key: str) -> Effect:
    """The effect of the keys of other documents: how the model is put together or used."""
    return "none" if key.startswith("_") or key == "transformers_version" else "reading"


def _change(
    name: str,
    change: Change,
    what: What,
    text: str,
    *,
    keys: Iterable[ConfigKey] = (),
    tensors: Iterable[LockedTensor] = (),
    renamed: str | None = None,
) -> FileChange:
    facts: dict[str, Any] = {"file": name, "change": change, "what": what, "text": text}
    return FileChange(**facts, keys=tuple(keys), tensors=tuple(tensors), renamed=renamed)
