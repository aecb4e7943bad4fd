"""What differs between two checkpoints, in a versioned schema that every rendering shows."""

import json
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from hfcount.diffing.pieces import (
    Cell,
    ConfigKey,
    DiffDepth,
    Expectation,
    FileSums,
    Judged,
    Relation,
    Side,
    Tensors,
    Values,
)
from hfcount.report.part import Part, as_json
from hfcount.report.renderings import DIFF_RENDERINGS
from hfcount.version import SCHEMA

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class Diff(Part):
    """What differs between two checkpoints.

    Fields may be added under `schema` 1; none is removed or changes its meaning. `relations` say what B is to A,
    `summary` the same in a line. `same_structure` is whether both have the same tensors, however they are named or laid
    out, of one dtype; null where that could not be told. `cells` say what differs layer by layer, if something does.
    `parts` are those of pipelines, by name. `judged_by` is what the exit code goes by where nothing is expected.
    """

    _aliases: ClassVar[dict[str, str]] = {"schema_version": "schema"}

    schema_version: Literal[1] = 1
    a: Side
    b: Side
    summary: str
    relations: tuple[Relation, ...] = ()
    same_structure: bool | None = None
    depth: DiffDepth | None = None
    config: tuple[ConfigKey, ...] = ()
    tensors: Tensors | None = None
    files: FileSums | None = None
    values: Values | None = None
    cells: tuple[Cell, ...] = ()
    expectation: Expectation | None = None
    notes: tuple[str, ...] = ()
    parts: "dict[str, Diff] | None" = None
    judged_by: Judged = "structure"

    @property
    def exit_code(self) -> int:
        """0: the same, or what was expected; 1: it differs, or is not that; 3: that could not be told."""
        if self.expectation is not None:
            holds = self.expectation.met
        else:
            holds = self.same_structure and not (self.judged_by == "values" and self.values_differ)
        return {True: 0, False: 1, None: 3}[holds]

    @property
    def values_differ(self) -> bool:
        """Whether all values were compared, of the model or of a part of it, and some are not A's."""
        values = self.values
        own = values is not None and not values.sampled and values.identical < values.tensors
        own = own or any(relation.kind == "order" for relation in self.relations)
        return own or any(part.values_differ for part in (self.parts or {}).values())

    @property
    def ok(self) -> bool:
        """Whether the exit code is 0: what it goes by is the same, or what was expected holds."""
        return self.exit_code == 0

    def __bool__(self) -> bool:
        """`ok`."""
        return self.ok

    def __repr__(self) -> str:
        return f"<Diff {self.a.model} {self.b.model}: {self.summary}>"

    def __str__(self) -> str:
        """As the terminal shows it."""
        return DIFF_RENDERINGS["text"](self)

    def to_markdown(self) -> str:
        """As --format markdown prints it."""
        return DIFF_RENDERINGS["markdown"](self)

    def to_html(self) -> str:
        """As the page that `-o FILE.html` writes (extra `html`)."""
        return DIFF_RENDERINGS["html"](self)

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def to_json(self) -> str:
        """The same as one line of ASCII JSON; `parts` is left out where there are none."""
        return json.dumps(as_json(self), default=as_json)

    def model_dump(self) -> dict[str, Any]:
        """The same as nested dicts, by the names of its fields."""
        from dataclasses import asdict

        return asdict(self)

    def _as_json(self) -> dict[str, Any]:
        return {name: value for name, value in super()._as_json().items() if name != "parts" or value is not None}

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> "Diff":
        """A Diff from the output of `to_json`; raises ValueError (pydantic's) for anything else."""
        return _adapter().validate_json(text)

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of the output of `to_json`."""
        dialect = "https://json-schema.org/draft/2020-12/schema"
        address = SCHEMA.replace("report.schema.json", "diff.schema.json")
        return {"$schema": dialect, "$id": address, **_adapter().json_schema()}


@cache
def _adapter() -> "TypeAdapter[Diff]":
    from pydantic import TypeAdapter  # its import takes longer than a run without it

    return TypeAdapter(Diff)
