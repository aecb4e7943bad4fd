"""What became of a locked checkpoint, in a versioned schema."""

import json
from typing import ClassVar, Literal

from hfcount.diffing.pieces import ConfigKey
from hfcount.report.figures import Failure
from hfcount.report.part import Part, as_json

Change = Literal["changed", "added", "missing", "unreadable"]
What = Literal["config", "index", "tensors", "header", "values", "content"]
"""What a change of a file changes. `content`: that is not known, or it is no file of weights or config."""


class LockedTensor(Part):
    """Tensors that are not as they were locked: dtype and shape then and now, null where they are not there."""

    name: str
    file: str
    tensors: int
    locked: str | None = None
    now: str | None = None


class FileChange(Part):
    """A file that is not as it was locked; `text` says what that changes.

    Of a config, `keys` are those with other values (`a` is the locked one, `b` that of now), by their effect; of
    weights, `tensors` are those that are not the same. `renamed` is another file with the same content.
    """

    file: str
    change: Change
    what: What
    text: str
    keys: tuple[ConfigKey, ...] = ()
    tensors: tuple[LockedTensor, ...] = ()
    renamed: str | None = None


class NotedFile(Part):
    """A file that no loader of models reads and that is not as it was locked."""

    file: str
    change: Change


class LockCheck(Part):
    """Whether a checkpoint is as it was locked.

    `agrees` is null where that could not be checked. `checked` counts files that agree, `not_checked` says in a
    sentence each what was not looked at. `locked_verdict` is that of the lock. `lock` and `model` are as they were
    given.
    """

    _aliases: ClassVar[dict[str, str]] = {"schema_version": "schema"}

    schema_version: Literal[1] = 1
    model: str
    lock: str
    agrees: bool | None
    depth: str
    checked: int = 0
    differences: tuple[FileChange, ...] = ()
    noted: tuple[NotedFile, ...] = ()
    not_checked: tuple[str, ...] = ()
    locked_verdict: str | None = None
    error: Failure | None = None

    @property
    def exit_code(self) -> int:
        """0 if it agrees, 1 if it differs, 3 if that could not be checked."""
        return 3 if self.agrees is None else 0 if self.agrees else 1

    def to_json(self) -> str:
        """One line of ASCII JSON."""
        return json.dumps(as_json(self), default=as_json)
