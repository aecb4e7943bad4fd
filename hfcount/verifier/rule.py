"""What a rule for checkpoints says."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "note"]
Proof = Literal["kept", "doubted", "weakened", "lost"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: `what` it reports, `why` that happens, what to `do`.

    Args:
        says: template of the message, for messages.py; "" if each finding brings its own message.
        mends: whether the message ends with what to `do`, as the finding's fix.
        neutral: whether a finding does not affect the verdict, and stays a note under --strict.
        proof: whether the bytes are still proven despite a finding: kept; doubted, but what they make may be of no use;
            weakened, not by the index; lost, by nothing.
        divides: whether readers besides transformers 5 may refuse what it reports, or load another model.
    """

    code: str
    name: str
    severity: Severity
    what: str
    why: str
    do: str
    says: str = ""
    mends: bool = True
    neutral: bool = False
    proof: Proof = "kept"
    divides: bool = False
