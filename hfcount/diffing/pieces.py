"""The parts of a Diff: sides, relations, config keys, tensors, files, values."""

from typing import Any, Literal

from hfcount.fetcher.location import SourceName
from hfcount.options import Expected
from hfcount.report.figures import Failure
from hfcount.report.model import Verdict
from hfcount.report.part import Part

Effect = Literal["tensors", "storage", "reading", "training", "none", "unknown"]
"""What a config key changes: tensors, how they are stored, what the model computes or how its input is read, training
alone, nothing; or that is not known: no reader that is known takes it, or a class makes what is absent of others."""

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
    "order",
    "tie",
    "head",
    "adapter",
    "container",
    "spelling",
    "reading",
    "tensors",
    "unread",
    "another-model",
]
"""What B is to A, in a word; several may hold. `unread`: a config cannot be read, or one side alone has weights."""

Judged = Literal["structure", "values"]
"""What the exit code goes by where nothing is expected: the tensors alone, or their values as well."""

DiffDepth = Literal["listing", "config", "index", "headers", "samples", "data"]
"""How far both were compared: contents by the checksums of listings, or up to values."""


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


class Relation(Part):
    """One thing that B is to A, and the words for it."""

    kind: Kind
    text: str


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


class Held(Part):
    """A tensor on one side: its stored names, folded; its shape in elements; its dtype, or how it is packed."""

    name: str
    shape: tuple[int, ...]
    dtype: str | None


class TensorPair(Part):
    """Tensors that differ only in numbers of their names; null on the side that lacks them."""

    name: str
    count: int
    component: str | None
    a: Held | None
    b: Held | None


class Stack(Part):
    """Layers or experts of which the sides have different numbers, `layers` or `experts` by `name`."""

    name: str
    what: Literal["layers", "experts"]
    a: int
    b: int


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


class ValueRow(Part):
    """Values of tensors that differ only in numbers of their names: how many tensors were compared, how many differ.

    `share` of the elements of those that differ, the `largest` absolute difference, the root mean square `rms` of the
    difference, and `relative` to that of A's values; `cosine` of the angle between both sides' values, 0 where they
    have nothing in common. Null where bytes alone were compared. `beyond` is how many of the elements that differ are
    NaN or infinite on either side: these are in none of the other figures but `share`. `other` is how many of the
    tensors that differ do so by more than what the dtype of either side makes of the other's values. `elements` is how
    many elements differ, and `first` the index of the first of them where that is of one tensor.
    """

    name: str
    component: str | None
    tensors: int
    differing: int
    share: float | None = None
    largest: float | None = None
    rms: float | None = None
    relative: float | None = None
    cosine: float | None = None
    beyond: int = 0
    other: int = 0
    elements: int | None = None
    first: tuple[int, ...] | None = None


class Values(Part):
    """Values of tensors that both have: those that were compared, and those that differ, by component and by name.

    `sampled` says that the first and last 64 KiB of each were compared. `uncompared` are tensors of which one side is
    stored in a form that was not read. `through` is the dtype that values were rounded to on the way from A to B, where
    that explains what the dtypes of both do not. `introduced` is how many values of B are NaN or infinite where A's are
    not, and `introduced_in` names the tensors that hold them.
    """

    sampled: bool
    tensors: int
    identical: int
    uncompared: int = 0
    through: str | None = None
    introduced: int = 0
    introduced_in: tuple[str, ...] = ()
    components: tuple[ValueRow, ...] = ()
    rows: tuple[ValueRow, ...] = ()


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


class Expectation(Part):
    """What was expected, whether it holds, and why not; null where it cannot be told."""

    expected: Expected
    met: bool | None
    reason: str
