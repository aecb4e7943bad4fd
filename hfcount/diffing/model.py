"""What differs between two checkpoints, in a versioned schema that every rendering shows."""

import json
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from hfcount.choices import Expected
from hfcount.fetcher.interface import SourceName
from hfcount.figures import Failure, Part
from hfcount.project import SCHEMA
from hfcount.report.model import Verdict

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Effect = Literal["tensors", "storage", "reading", "training", "none", "unknown"]
"""What a config key changes: tensors, how they are stored, what the model computes or how its input is read, training
alone, nothing; or no reader that is known takes it."""

Kind = Literal[
    "same",
    "same-files",
    "same-values",
    "same-structure",
    "finetune",
    "merge",
    "cast",
    "quantised",
    "dequantised",
    "requantised",
    "vocabulary",
    "prediction",
    "towers",
    "part",
    "layers",
    "experts",
    "tie",
    "head",
    "adapter",
    "container",
    "spelling",
    "reading",
    "tensors",
    "another-model",
]
"""What B is to A, in a word; several may hold."""

DiffDepth = Literal["listing", "config", "index", "headers", "samples", "data"]
"""How far both were compared: contents by the checksums of listings, or up to values."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Side(Part):
    """One of the two.

    `tensors` and `bytes` are those that are stored, `dtypes` elements by dtype; null where nothing tells. `packing` is
    the scheme of packed weights. `findings` are the codes of what `hfcount verify` says of it. `error` is why it could
    not be looked at.
    """

    model: str
    revision: str | None = None
    source: SourceName | None = None
    container: str | None = None
    family: str | None = None
    architecture: str | None = None
    verdict: Verdict | None = None
    findings: tuple[str, ...] = ()
    parameters: int | None = None
    tensors: int | None = None
    bytes: int | None = None
    dtypes: dict[str, int] | None = None
    packing: str | None = None
    error: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Relation(Part):
    """One thing that B is to A, and the words for it."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ConfigKey(Part):
    """A config key with another effective value: `absent` names the side whose value is a default, if one is.

    `tensors` are those that have another shape, or are there on one side alone, if A's config has B's value.
    `readers` says where the two values are taken differently by readers of the field.
    """

    key: str
    a: Any
    b: Any
    effect: Effect
    absent: Literal["a", "b"] | None = None
    tensors: tuple[str, ...] = ()
    readers: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Held(Part):
    """A tensor on one side: its stored names, folded; its shape in elements; its dtype, or how it is packed."""

    name: str
    shape: tuple[int, ...]
    dtype: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TensorPair(Part):
    """Tensors that differ only in numbers of their names; null on the side that lacks them."""

    name: str
    count: int
    component: str | None
    a: Held | None
    b: Held | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Stack(Part):
    """Layers or experts of which the sides have different numbers, `layers` or `experts` by `name`."""

    name: str
    what: Literal["layers", "experts"]
    a: int
    b: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Tensors(Part):
    """How the tensors compare: `alike` have one shape and dtype; of them `renamed` have other names or layouts.

    `only_a` and `only_b` are on one side alone, `shapes` and `dtypes` differ in these.
    """

    alike: int = 0
    renamed: tuple[TensorPair, ...] = ()
    only_a: tuple[TensorPair, ...] = ()
    only_b: tuple[TensorPair, ...] = ()
    shapes: tuple[TensorPair, ...] = ()
    dtypes: tuple[TensorPair, ...] = ()
    stacks: tuple[Stack, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FileSums(Part):
    """Files by the sha256 that listings have: how many are the same, those that differ, and those of one side alone.

    `weights` are those of the same that hold weights, `of` all weight files of A. `unknown` have no checksum.
    """

    identical: int
    differing: tuple[str, ...] = ()
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    weights: int = 0
    of: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ValueRow(Part):
    """Values of tensors that differ only in numbers of their names: how many tensors were compared, how many differ.

    `share` of the elements of those that differ, the `largest` absolute difference, the root mean square `rms` of the
    difference, and `relative` to that of A's values; null where bytes alone were compared.
    """

    name: str
    component: str | None
    tensors: int
    differing: int
    share: float | None = None
    largest: float | None = None
    rms: float | None = None
    relative: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Values(Part):
    """Values of tensors that both have: those that were compared, and those that differ, by component and by name.

    `sampled` says that the first and last 64 KiB of each were compared. `uncompared` are tensors of which one side is
    stored in a form that was not read.
    """

    sampled: bool
    tensors: int
    identical: int
    uncompared: int = 0
    components: tuple[ValueRow, ...] = ()
    rows: tuple[ValueRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Cell(Part):
    """The tensors of one component in one layer: `stack` names the list of layers, `number` is null outside of all.

    Of all `tensors` so many are on one side alone, have another shape or dtype, or other values where these were
    compared; `relative` is how much those differ.
    """

    stack: str
    number: int | None
    component: str
    tensors: int
    only_a: int = 0
    only_b: int = 0
    shapes: int = 0
    dtypes: int = 0
    values: int = 0
    relative: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Expectation(Part):
    """What was expected, whether it holds, and why not; null where it cannot be told."""

    expected: Expected
    met: bool | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Diff(Part):
    """What differs between two checkpoints.

    Fields may be added under `schema` 1; none is removed or changes its meaning. `relations` say what B is to A,
    `summary` the same in a line. `same_structure` is whether both have the same tensors, however they are named or laid
    out, of one dtype; null where that could not be told. `cells` say what differs layer by layer, if something does.
    `parts` are those of pipelines, by name.
    """

    schema_version: Literal[1] = field(default=1, metadata={"alias": "schema"})
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

    @property
    def exit_code(self) -> int:
        """0: the same structure, or what was expected; 1: it differs, or is not that; 3: that could not be told."""
        told = self.same_structure if self.expectation is None else self.expectation.met
        return {True: 0, False: 1, None: 3}[told]

    @property
    def ok(self) -> bool:
        """Whether the structure is the same, or what was expected holds."""
        return self.exit_code == 0

    def __bool__(self) -> bool:
        """`ok`."""
        return self.ok

    def __repr__(self) -> str:
        return f"<Diff {self.a.model} {self.b.model}: {self.summary}>"

    def __str__(self) -> str:
        """As the terminal shows it."""
        from hfcount.diffing.text import as_text

        return as_text(self)

    def to_markdown(self) -> str:
        """As --format markdown prints it."""
        from hfcount.diffing.markdown import render

        return render(self)

    def to_html(self) -> str:
        """As the page that `-o FILE.html` writes (extra `html`)."""
        from hfcount.diffing.page import render

        return render(self)

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def to_json(self) -> str:
        """The same as one line of ASCII JSON; `parts` is left out where there are none."""
        return json.dumps(_fields(self), default=_fields)

    def model_dump(self) -> dict[str, Any]:
        """The same as nested dicts, by the names of its fields."""
        return asdict(self)

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


def _fields(part: Any) -> dict[str, Any]:
    found = {one.metadata.get("alias", one.name): getattr(part, one.name) for one in fields(part)}
    return {name: value for name, value in found.items() if name != "parts" or value is not None}


@cache
def _adapter() -> "TypeAdapter[Diff]":
    from pydantic import TypeAdapter  # its import takes longer than a run without it

    return TypeAdapter(Diff)
