"""Parts of a report that hold numbers: counts, formulas, storage, files, places."""

from typing import Literal

from hfcount.record import made
from hfcount.report.part import Part


class Parameters(Part):
    """Numbers of parameters, in elements.

    `stored` is what the checkpoint holds, including copies and buffers; null when neither index nor headers tell.
    """

    total: int | None
    active: int | None
    active_without_embedding: int | None
    stored: int | None


class ComponentCount(Part):
    """Parameters of one component, in elements; `active` is null where names and shapes are all that is known."""

    name: str
    total: int
    active: int | None


class TensorRow(Part):
    """All tensors of the blueprint whose names differ only in indices; `shape` is of one, `elements` of all."""

    name: str
    count: int
    shape: tuple[int, ...]
    component: str
    kind: str
    elements: int


class FormulaPart(Part):
    """The closed form of one component or of the total: in symbols, in numbers, and its value in elements."""

    component: str
    symbols: str
    numbers: str
    value: int


class ClosedForm(Part):
    """The formula of every component, the total last, and the value of each symbol.

    `active` counts the parameters that one token uses, if these are fewer. `layers` has one layer of each kind, and
    `active_layers` its active parameters.

    `keys` is the origin of each symbol's value: a config key (`text_config.hidden_size`, `depths[0]`), or arithmetic
    over keys, numbers and other symbols with ` + `, ` - `, ` · `, ` / ` and parentheses. Every quotient, every product
    with a fraction and the result are rounded down. true = 1; an object or a list of texts = its number of entries; a
    list of equal numbers = that number. `KEY, by default` is the default of an absent key, `NUMBER, fixed` a constant
    of the architecture. `KIND in KEY` is how many entries of a list are KIND, `KIND in KEY with KIND in KEY` in how
    many places both lists have these; `entries of KEY` is how many it has, `entries of KEY below KEY` those that are
    smaller. Rules after a comma apply in order, and nothing is rounded before them: `rounded` (half to even), `rounded
    up`, `rounded down`, `rounded to N` and `rounded up to N` (a multiple of N), `at least N`, `at most N`, `as a power
    of 2` (the exponent), `in channels of N from M` (the multiple of N next to it, half up, at least M or else N; the
    next one if it is below 0.9 of the value). `by its factors` and `in primes` name rules that are no arithmetic.
    Layers that follow from no such arithmetic are named: `layers 3-60` (`of the encoder`), `all layers`.
    """

    parts: tuple[FormulaPart, ...]
    legend: dict[str, int]
    active: tuple[FormulaPart, ...] = ()
    layers: tuple[FormulaPart, ...] = ()
    active_layers: tuple[FormulaPart, ...] = ()
    keys: dict[str, str] = made(factory=dict)


class LayerKind(Part):
    """Layers that have the same parameters.

    `name` is what they are made of, `numbers` are the layers' numbers, and `components` are sums over all `count`
    layers.
    """

    name: str
    numbers: str
    count: int
    components: tuple[ComponentCount, ...]


class Storage(Part):
    """How quantised weights are stored, by the headers, else by the names, else by what announces it.

    `modules` are packed, and have `packed_parameters` (elements) in `packed_bytes` with their scales; `tensors` and
    `dtypes` (elements) are of all that is stored. `scalars` are those elements that are tensors without axes, by the
    names; the Hub's counts leave them out. `unpacked_bytes` is what it all would take in the model's own dtype.
    """

    scheme: str
    modules: int
    tensors: int
    dtypes: dict[str, int]
    scalars: dict[str, int]
    bytes: int
    packed_bytes: int
    packed_parameters: int
    unpacked_bytes: int


class ModuleRow(Part):
    """A module that sentence-transformers puts around the model: its folder, and the name of its class.

    `parameters` (elements) and `tensors` are those of its file, and are no part of the model's own; `width` are the
    features of an embedding after it. `verdict` is unverified where its config or its file were not read, or its
    class is not described.
    """

    path: str
    kind: str
    verdict: Literal["verified", "mismatch", "unverified"]
    parameters: int | None = None
    tensors: int | None = None
    width: int | None = None


class WeightsFile(Part):
    """One of several forms of a model in the same repo, such as a GGUF file in one mixture of types.

    `file` is its path, of a set in several files the first; `files` is how many these are. `bytes` are those of its
    tensors by type, `parameters` elements, `bits_per_weight` the same in bits. `verdict` is of this file alone. With
    --memory, `fits` is whether it fits with its cache (one token, if no context was asked for), and `largest_context`
    the most tokens; null for any number where it fits, or where it is unknown.
    """

    file: str
    files: int
    role: str
    parameters: int | None
    bytes: dict[str, int]
    bits_per_weight: float | None
    verdict: str
    fits: bool | None = None
    largest_context: int | None = None


class AdapterFigures(Part):
    """What an adapter adds to its base.

    `method` is PEFT's name of its kind, `base` the model that it is for, and `modules` how many modules and parameters
    of it are adapted. `parameters` are its own and `base_parameters` those of the base, in elements; `bytes` are what
    it takes beside the base. Unknown values are null.
    """

    method: str
    base: str | None
    modules: int | None
    parameters: int | None
    base_parameters: int | None
    bytes: int | None


class Location(Part):
    """Where a finding stands: a file of the checkpoint, and its line, from 1; null where no line of a text shows it."""

    file: str
    line: int | None = None


class Failure(Part):
    """Why a run could not look."""

    kind: str
    message: str


class TensorStatistics(Part):
    """The values of a tensor, all of which were read; `shape` and `elements` are in elements.

    `min`, `max`, `mean` and `rms` (the root of the mean square) are of those that are finite, null if there are none;
    of whole numbers there is no mean, and of complex ones `min` and `max` are of both parts. `zeros`, `nan` and
    `infinite` count elements; `first_bad` is the index of the first that is NaN or infinite. Of a tensor that is packed
    these are the values as they are stored, not those that they stand for. `component` is what it is counted under.
    """

    name: str
    file: str
    dtype: str
    shape: tuple[int, ...]
    elements: int
    min: int | float | None
    max: int | float | None
    mean: float | None
    rms: float | None
    zeros: int
    nan: int = 0
    infinite: int = 0
    first_bad: tuple[int, ...] | None = None
    component: str | None = None
