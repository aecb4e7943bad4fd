"""What looking into a container yields: a kind, how grave it is, and the facts that a message is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["error", "note", "unverified"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between a container and what it is to hold, or one thing to know of it.

    Args:
        kind: what it is, in a word.
        severity: error, it does not load or is another model; note, it loads; unverified, nobody can tell from here.
        file: where it is, if in one file.
        facts: names, numbers and texts, by name.
        neutral: whether it does not affect the verdict.
    """

    kind: str
    severity: Severity
    file: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    neutral: bool = False
