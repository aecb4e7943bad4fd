"""Pieces of a report: what was looked at, what was compared, what was found, and the parts of a pipeline."""

from typing import ClassVar, Literal

from hfcount.errors import Value, Variant
from hfcount.options import AskedDepth, Depth
from hfcount.record import made
from hfcount.report.figures import (
    ClosedForm,
    ComponentCount,
    Failure,
    LayerKind,
    Location,
    Parameters,
    Storage,
    TensorRow,
)
from hfcount.report.part import Part
from hfcount.report.serving import Memory
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.loader import Basis, ReadingOutcome
from hfcount.verifier.rules import RULES

Verdict = Literal["verified", "explained", "allowed", "mismatch", "unverified"]


class Files(Part):
    """How far a run looked at the weight files.

    Numbers of files: `named` by the index, or standing for the model; of these `found`, null if that is not known, and
    `sized`, held against their tensors. `opened` are all whose headers were read, `apart` those that were not, and why.
    """

    named: int
    found: int | None = None
    sized: int = 0
    opened: int = 0
    apart: dict[str, str] = made(factory=dict)


class Beside(Part):
    """Files of one kind that lie beside the model and were not opened: how many, and the paths of the first 100."""

    kind: str
    count: int
    files: tuple[str, ...]


class Evidence(Part):
    """What was published.

    `total_size` (bytes) and `total_parameters` (elements) are the index's own claims, `tensors` and `shards` numbers of
    names and files, `dtypes` elements by dtype. `unlisted` are weight files that the index does not name, and `files`
    says how far those that it names were looked at.
    """

    total_size: int | None = None
    total_parameters: int | None = None
    tensors: int | None = None
    shards: int | None = None
    dtypes: dict[str, int] | None = None
    unlisted: tuple[str, ...] = ()
    files: Files | None = None


class ReportedCheck(Part):
    """One number as expected and as observed; `text` says how the expected one was computed.

    `tensors` counts names; `shapes` tensors of which the shape was compared, and as observed those that have it;
    `packed_shapes` the same of quantised ones; `total_size` is in bytes, `total_parameters` in elements. `files` counts
    weight files, where some are missing; `bytes` are those of files that are cut off.
    """

    name: str
    expected: int
    observed: int
    agrees: bool
    text: str


class Waived(Part):
    """Why a settings file lets a finding through: the `reason`, the last day of that, and where it stands."""

    reason: str
    until: str | None = None
    file: str
    line: int | None = None


class ReportedFinding(Part):
    """One difference: `count` tensors, their names folded into rows, their `parameters` (elements) and `bytes`.

    `expected` and `observed` are what differs: numbers, names, dtypes or shapes. `key` is one of the config or of the
    index's metadata, `file` is relative to the checkpoint; both are the first if there are several. `fix` says what to
    do, as the last sentences of `message`. Each is null if it does not apply. `parts` are the tensors by whole parts
    and layers, where that is shorter; `also` the codes of what `message` tells besides, since it has the same cause.
    `variant` names what is wrong where the rule has several variants, as HF103 has. `location` is where an editor would
    go: the line of `key`, of the key to change, or of the first tensor in the index. `url` is the page about the code.
    `part` is the part of a pipeline that it is about, null if it is about none or several. `waived` says why a settings
    file lets it through, and is left out if none does.
    """

    _rare: ClassVar[frozenset[str]] = frozenset({"waived"})

    code: str
    name: str
    severity: Literal["error", "note"]
    message: str
    tensors: tuple[str, ...]
    count: int
    parameters: int | None
    bytes: int | None
    expected: Value = None
    observed: Value = None
    key: str | None = None
    file: str | None = None
    fix: str | None = None
    parts: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    variant: Variant | None = None
    location: Location | None = None
    url: str | None = None
    part: str | None = None
    waived: Waived | None = None

    @property
    def rows(self) -> tuple[str, ...]:
        """The shortest list of the tensors."""
        return self.parts or self.tensors

    @property
    def rule(self) -> type[Finding]:
        """The rule that is broken."""
        return RULES[self.code]


class ReportedLoader(Part):
    """What one loader, a library in a version, makes of the checkpoint.

    `outcome` is `whole` (the same model, nothing random and nothing lost), `differs` (it loads, and something is
    random, dropped or read otherwise), `refuses` (an error), `foreign` (the format is not for it) or `unknown`; `says`
    is why, and `findings` are the codes that say so, too. `home` is whether the checkpoint is made for it: the verdict
    is that of these, unless others were asked for. `evidence` is `run` where that version was run on such checkpoints,
    `read` where its source was, as `source` cites, and `none` where nothing is known.
    """

    loader: str
    version: str
    home: bool
    outcome: ReadingOutcome
    findings: tuple[str, ...]
    says: str
    evidence: Basis
    source: str


class Allowed(Part):
    """Errors that --allow or a settings file let through: their rule, and how many findings it has."""

    code: str
    name: str
    count: int


class ReportedWaiver(Part):
    """A waiver of a settings file that is for this checkpoint.

    `code` and `name` are of the rule, `tensor` and `path` the patterns that it is limited to, `until` is its last day.
    `state` is `used` if it lets findings through, `unused` if there are none for it, and `over` if its last day is
    past; `findings` is how many it lets through, or would if it were not over.
    """

    code: str
    name: str
    reason: str
    until: str | None = None
    tensor: str | None = None
    path: str | None = None
    line: int | None = None
    state: Literal["used", "unused", "over"]
    findings: int


class AppliedSettings(Part):
    """What a settings file set for this checkpoint: `file` is its path.

    `loaders`, `base`, `strict` and `depth` are null where the file leaves them open, or the command line was asked
    otherwise.
    """

    file: str
    waivers: tuple[ReportedWaiver, ...] = ()
    loaders: tuple[str, ...] | None = None
    base: str | None = None
    strict: bool | None = None
    depth: AskedDepth | None = None


class PipelinePart(Part):
    """What model_index.json lists: a model of a pipeline, or what holds no weights, such as a tokenizer.

    `class` is that of `library`, by the index. `verdict` is null for what holds no weights and is there; other fields
    are those of a report, of this part alone, with names of files below its folder. `findings` are among those of the
    whole, which name it.
    """

    _aliases: ClassVar[dict[str, str]] = {"class_name": "class"}

    name: str
    library: str
    class_name: str
    verdict: Verdict | None = None
    container: str | None = None
    family: str | None = None
    dtype: str | None = None
    depth: Depth | None = None
    parameters: Parameters | None = None
    components: tuple[ComponentCount, ...] = ()
    evidence: Evidence | None = None
    not_looked_at: tuple[Beside, ...] = ()
    checks: tuple[ReportedCheck, ...] = ()
    findings: tuple[ReportedFinding, ...] = ()
    storage: Storage | None = None
    memory: Memory | None = None
    tensors: tuple[TensorRow, ...] | None = None
    formula: ClosedForm | None = None
    layers: tuple[LayerKind, ...] | None = None
    error: Failure | None = None
