"""A finding: one difference between a checkpoint and its config, explained. Each kind is a file of verifier/rules/."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from hfcount.errors import Value, Variant
from hfcount.record import Record
from hfcount.text import printable
from hfcount.version import explained

Severity = Literal["error", "note"]
Proof = Literal["kept", "doubted", "weakened", "lost"]

_ROWS = 100  # folded names that a report lists


class Finding(Record):
    """One difference, explained.

    A class that has a `code` is a rule. Its docstring says when it is reported, and what holds for all of its findings
    stands in the attributes of the class:

        code, name: what it is called; the name is phrased to follow --allow.
        level: the severity of a finding that gives none.
        why, remedy: how it comes about, and what to do, for the pages and --rules.
        advises: whether something is to be done: a finding that gives no `fix` then ends with the remedy.
        informational: whether it does not affect the verdict, and stays a note under --strict.
        proof: whether the bytes are still proven: kept; doubted, but what they make may be of no use; weakened, not by
            the index; lost, by nothing.
        variants: what may be wrong, each in a sentence, where a rule has several.
        of_serving: whether it answers a question about serving: it then counts for the exit code, not for the verdict.
        url: the address of the page about it, which stays.
        divides: whether loaders take what it reports otherwise than the newest transformers, as far as is known.

    Args:
        severity, fix: those of the rule, unless they are given; a `fix` of None means none.
        subject: the architecture or family.
        expected, observed: the two values that differ: numbers, names, dtypes or shapes.
        key: the key of the config or of the index's metadata, the first if there are several.
        file: the file in the checkpoint, the first if there are several.
        tensors: the names of the tensors, folded.
        parts: the same by whole parts and whole layers, where that is shorter.
        count: the number of tensors.
        parameters: elements of the tensors; None if unknown.
        bytes: bytes of the tensors; None if unknown.
        cause: why it is so, in sentences, if that is known.
        inside: the folder of the model that it is about, where a checkpoint has several.
        joined: findings of the same cause, which are reported with this one.
        changes: what the config would have to say instead, by key, if that is the cause.
        sole: whether that is all that is known to explain it.
        variant: which of the rule's variants it is, if it has any.
        part: the part of a pipeline that it is about.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    level: ClassVar[Severity]
    what: ClassVar[str]
    url: ClassVar[str]
    why: ClassVar[str]
    remedy: ClassVar[str]
    advises: ClassVar[bool] = True
    informational: ClassVar[bool] = False
    proof: ClassVar[Proof] = "kept"
    divides: ClassVar[bool] = False
    of_serving: ClassVar[bool] = False
    variants: ClassVar[Mapping[Variant, str]] = MappingProxyType({})

    severity: Severity = "error"
    fix: str | None = None
    subject: str = ""
    expected: Value = None
    observed: Value = None
    key: str | None = None
    file: str | None = None
    tensors: tuple[str, ...] = ()
    count: int = 0
    parameters: int | None = 0
    bytes: int | None = 0
    cause: str | None = None
    inside: str = ""
    parts: tuple[str, ...] = ()
    joined: "tuple[Finding, ...]" = ()
    changes: Mapping[str, Any] = MappingProxyType({})
    sole: bool = False
    variant: Variant | None = None
    part: str | None = None

    if not TYPE_CHECKING:

        def __init__(self, **values: Any) -> None:
            super().__init__(**{"severity": self.level, "fix": self._usual_fix()} | values)

    def _usual_fix(self) -> str | None:
        return self.remedy if self.advises else None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "code" in vars(cls):
            cls.what = " ".join((cls.__doc__ or "").partition("\n\n")[0].split())
            cls.url = explained(cls.code)

    @property
    def text(self) -> str:
        """What differs, where, and both values, in sentences."""
        raise NotImplementedError  # abstract: every rule in rules/ writes its own sentences

    @property
    def message(self) -> str:
        """The finding in sentences: what differs, where, both values, the cause, and the fix."""
        joined = [f"That also explains: {finding.text}" for finding in self.joined]
        inside = f"{self.inside}:" if self.inside else None
        return printable(" ".join(filter(None, [inside, self.text, *joined, self.cause, self.fix])), None)

    @property
    def blocks(self) -> bool:
        """Whether it keeps a checkpoint from being good: an error, or what is loaded and may be of no use."""
        return self.severity == "error" or self.proof == "doubted"

    @property
    def codes(self) -> frozenset[str]:
        """Its code, and those of the findings that are reported with it."""
        return frozenset(finding.code for finding in (self, *self.joined))

    @property
    def names(self) -> tuple[str, ...]:
        """The shortest list of the tensors."""
        return self.parts or self.tensors

    @property
    def rows(self) -> tuple[str, ...]:
        """The folded names, safe to print; after the first 100 only the number of the rest."""
        rows = tuple(map(printable, self.tensors[:_ROWS]))
        more = len(self.tensors) - _ROWS
        return (*rows, f"... and {more:,} more rows") if more > 0 else rows


class Statement(Finding):
    """A finding whose sentences are written where the problem is seen.

    Args:
        statement: what differs, where, and both values.
    """

    statement: str

    def _usual_fix(self) -> str | None:
        return None  # what is to be done is known where the problem is seen

    @property
    def text(self) -> str:
        """The statement."""
        return self.statement
