"""The report: everything that is known of one checkpoint, in a versioned schema that every reporter renders."""

import json
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from hfcount.errors import NotVerified
from hfcount.fetcher.location import SourceName
from hfcount.mapper.whatif import written
from hfcount.options import Depth
from hfcount.record import made
from hfcount.report.figures import (
    AdapterFigures,
    ClosedForm,
    ComponentCount,
    Failure,
    LayerKind,
    ModuleRow,
    Parameters,
    Storage,
    TensorRow,
    TensorStatistics,
    WeightsFile,
)
from hfcount.report.part import Part, as_json
from hfcount.report.pieces import (
    Allowed,
    AppliedSettings,
    Beside,
    Evidence,
    Files,
    PipelinePart,
    ReportedCheck,
    ReportedFinding,
    ReportedLoader,
    Verdict,
    Waived,
)
from hfcount.report.renderings import RENDERINGS
from hfcount.report.serving import Compute, Memory, Serving
from hfcount.version import SCHEMA

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["Allowed", "AppliedSettings", "Beside", "Evidence", "Files", "PipelinePart", "Report", "ReportedCheck"]
__all__ += ["ReportedFinding", "ReportedLoader", "Verdict", "Waived", "worst"]


class Report(Part):
    """What hfcount says of one checkpoint.

    Fields may be added under `schema` 1; none is removed or changes its meaning. `depth` is how far the run looked, and
    `depth_reason` why it read headers without being asked to. `container` is what holds the weights where it is not
    safetensors: `pickle`, `gguf`, `adapter`. `variants` are its files, of which the largest is counted. `adapter` is
    what one adds to its base. Of `not_looked_at`, beside the model, the verdict says nothing. `asides` are parts that
    are not described, by prefix. `allowed` are errors that --allow or a settings file let through, notes among the
    findings. `loaders` says what each makes of it, and `read_for` whose verdict was asked for. `serving` answers what
    was asked of it, `overrides` are config keys that were set, `derived_with` gave names and shapes, and
    `recorded_from` built the models that they were recorded from, where no family describes the type. `modules` are
    those that sentence-transformers puts around the model. `parts` are those of a pipeline: its counts are sums over
    them, and `components` has a row for each. `statistics` are of the values of each tensor. `target` is what a draft
    was held against. `repair` says what `hfcount fix` has for a local folder, where it was looked at: a repair that it
    makes (`proven`), or one that gives something up (`offered`). `settings` says what the settings file of the project
    did.
    """

    _aliases: ClassVar[dict[str, str]] = {"schema_version": "schema"}
    _rare: ClassVar[frozenset[str]] = frozenset(
        "container variants adapter overrides asides tensors formula layers error derived_with recorded_from".split()
        + "serving modules parts statistics target read_for repair settings".split()
    )

    schema_version: Literal[1] = 1
    model: str
    revision: str | None = None
    source: SourceName | None = None
    container: str | None = None
    family: str | None = None
    architecture: str | None = None
    dtype: str | None = None
    depth: Depth | None = None
    depth_reason: str | None = None
    verdict: Verdict
    parameters: Parameters | None = None
    components: tuple[ComponentCount, ...] = ()
    auxiliary: dict[str, int] = made(factory=dict)
    evidence: Evidence | None = None
    not_looked_at: tuple[Beside, ...] = ()
    checks: tuple[ReportedCheck, ...] = ()
    findings: tuple[ReportedFinding, ...] = ()
    allowed: tuple[Allowed, ...] = ()
    loaders: tuple[ReportedLoader, ...] = ()
    read_for: tuple[str, ...] | None = None
    storage: Storage | None = None
    memory: Memory | None = None
    variants: tuple[WeightsFile, ...] | None = None
    adapter: AdapterFigures | None = None
    compute: Compute | None = None
    overrides: dict[str, Any] | None = None
    asides: dict[str, str] | None = None
    tensors: tuple[TensorRow, ...] | None = None
    formula: ClosedForm | None = None
    layers: tuple[LayerKind, ...] | None = None
    error: Failure | None = None
    derived_with: str | None = None
    recorded_from: str | None = None
    serving: Serving | None = None
    modules: tuple[ModuleRow, ...] | None = None
    parts: tuple[PipelinePart, ...] | None = None
    statistics: tuple[TensorStatistics, ...] | None = None
    target: str | None = None
    repair: Literal["proven", "offered"] | None = None
    settings: AppliedSettings | None = None

    @property
    def label(self) -> str:
        """The model, and what was set in its config."""
        changes = written(self.overrides or {})
        return f"{self.model} {changes}" if changes else self.model

    @property
    def exit_code(self) -> int:
        """That of the verdict, or of an answer about serving if that is worse.

        0 for verified, explained, allowed or only counted, and for yes; 1 for mismatch, and for no; 3 for unverified or
        could not look, and for an answer that is unknown.
        """
        counted = self.depth == "config" and self.error is None
        verdict = {"mismatch": 1, "unverified": 0 if counted else 3}.get(self.verdict, 0)
        return worst([verdict, *(answer.exit_code for answer in (self.serving.answers if self.serving else ()))])

    @property
    def ok(self) -> bool:
        """Whether the checkpoint may be trusted: it is verified or explained, or its errors were let through."""
        return self.verdict in ("verified", "explained", "allowed")

    def __bool__(self) -> bool:
        """`ok`, so that `assert hfcount.verify(...)` means what it says."""
        return self.ok

    def raise_for_verdict(self) -> "Report":
        """This report, if it is `ok`.

        Raises:
            NotVerified: the verdict and the findings that it is about, with the report.
        """
        if not self.ok:
            raise NotVerified(RENDERINGS["reasons"](self), self)
        return self

    def to_markdown(self) -> str:
        """The report as --format markdown prints it."""
        return RENDERINGS["markdown"](self)

    def to_html(self) -> str:
        """The report as the self-contained page that --html writes (extra `html`)."""
        return RENDERINGS["html"](self)

    def __repr__(self) -> str:
        codes = "".join(f" {finding.code}" for finding in self.findings)
        return f"<Report {self.label}: {self.verdict}{codes}>"

    def __str__(self) -> str:
        """The report as the terminal shows it."""
        return RENDERINGS["text"](self)

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str | None:
        """What notebooks show: the parts of the page; without the extra `html`, they show the Markdown."""
        try:
            return RENDERINGS["notebook"](self)
        except ImportError:
            return None

    def to_json(self) -> str:
        """The report as one line of ASCII JSON; rare fields are left out if they are null."""
        return json.dumps(as_json(self), default=as_json)

    def model_dump(self) -> dict[str, Any]:
        """The report as nested dicts, by the names of its fields."""
        from dataclasses import asdict

        return asdict(self)

    @classmethod
    def model_validate(cls, value: object) -> "Report":
        """A report from nested dicts.

        Raises:
            ValueError: pydantic's, which says which field is missing, unknown or of another type.
        """
        return _adapter().validate_python(value)

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> "Report":
        """A report from the output of `to_json`; raises as `model_validate` does."""
        return _adapter().validate_json(text)

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of the output of `to_json`."""
        dialect = "https://json-schema.org/draft/2020-12/schema"
        return {"$schema": dialect, "$id": SCHEMA, **_adapter().json_schema()}


@cache
def _adapter() -> "TypeAdapter[Report]":
    from pydantic import TypeAdapter  # its import takes longer than a run without it

    return TypeAdapter(Report)


def worst(codes: Sequence[int]) -> int:
    """The exit code of several reports: the worst decides, 1, then 3, then 0."""
    return next((code for code in (1, 3) if code in codes), 0)
