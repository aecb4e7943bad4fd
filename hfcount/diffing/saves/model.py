"""What a version of transformers writes of a checkpoint that it loads and saves, in a versioned schema."""

import json
from typing import ClassVar, Literal

from hfcount.report.figures import Failure
from hfcount.report.part import Part, as_json


class SavedRow(Part):
    """Tensors of which the same becomes, and whose names differ only in numbers.

    `name` is as stored, or as written if they are not stored; `written` is the name that is written. `bytes` and
    `dtype` are as stored, `written_bytes` and `written_dtype` as written; null where they are not. `elements` and bytes
    are of all of them, `shape` is that of each, in elements.
    """

    name: str
    written: str | None
    tensors: int
    shape: tuple[int, ...]
    elements: int
    dtype: str | None
    bytes: int | None
    written_dtype: str | None
    written_bytes: int | None
    why: str | None = None


class SavedGroup(Part):
    """All tensors of which the same becomes.

    `bytes` are as stored, or as written if they are not stored.
    """

    tensors: int = 0
    elements: int = 0
    bytes: int = 0
    rows: tuple[SavedRow, ...] = ()


class WrittenConfigKey(Part):
    """A key of config.json that is written with another value, or under another name; null where it is absent."""

    key: str
    stored: str | None
    written: str | None


class Saves(Part):
    """What becomes of a checkpoint that one version of transformers loads and saves.

    `loses` is whether anything stored is in no tensor that is written; null where that cannot be said, and `unknown`
    says why. `refuses` says why this version does not load it, so that nothing is written. `call` is the call that is
    meant; `dtype` is what it loads the model in, and `dtype_from` says why. Groups are by what becomes of tensors;
    `stored` and `written` are all tensors before and after. `config` are the keys that are known to be written
    otherwise. `error` is why the checkpoint could not be read.
    """

    _aliases: ClassVar[dict[str, str]] = {"schema_version": "schema", "class_name": "class"}

    schema_version: Literal[1] = 1
    model: str
    loader: str
    version: str
    class_name: str | None = None
    call: str | None = None
    dtype: str | None = None
    dtype_from: str | None = None
    loses: bool | None = None
    refuses: str | None = None
    unknown: str | None = None
    notes: tuple[str, ...] = ()
    lost: SavedGroup = SavedGroup()
    filled: SavedGroup = SavedGroup()
    renamed: SavedGroup = SavedGroup()
    cast: SavedGroup = SavedGroup()
    tied: SavedGroup = SavedGroup()
    kept: SavedGroup = SavedGroup()
    stored: SavedGroup = SavedGroup()
    written: SavedGroup = SavedGroup()
    config: tuple[WrittenConfigKey, ...] = ()
    error: Failure | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing that is stored is lost."""
        return self.loses is False

    @property
    def exit_code(self) -> int:
        """0 if nothing stored is lost; 1 if something is, or the version refuses it; 3 if that cannot be said."""
        if self.refuses is not None or self.loses:
            return 1
        return 3 if self.loses is None else 0

    @property
    def answer(self) -> str:
        """The answer in a line."""
        from hfcount.diffing.saves.text import answer

        return answer(self)

    def to_json(self) -> str:
        """One line of ASCII JSON."""
        return json.dumps(as_json(self), default=as_json)

    def to_markdown(self) -> str:
        """A table for each group."""
        from hfcount.diffing.saves.markdown import render

        return render(self)

    def __str__(self) -> str:
        from hfcount.diffing.saves.text import render

        return render(self, details=False)
