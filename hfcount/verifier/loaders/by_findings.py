"""Gives the readings that follow from a checkpoint's findings alone."""

from collections.abc import Collection, Iterable

from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.loader import Checkpoint, Loader, Reading

_REFUSED = frozenset(
    "HF001 HF002 HF003 HF004 HF005 HF007 HF101 HF103 HF104 HF107 HF108 HF109 HF110 HF301 HF706".split()
)
"""Findings of what transformers and the libraries upon it refuse to load; with others tensors are filled or dropped."""


def errors_of(checkpoint: Checkpoint) -> list[Finding]:
    """The errors of a checkpoint, but for answers about serving."""
    return [finding for finding in checkpoint.findings if finding.severity == "error" and not finding.of_serving]


def by_findings(loader: Loader, against: Iterable[Finding], source: str, refused: Collection[str] = ()) -> Reading:
    """The reading of a checkpoint with these errors.

    Args:
        source: where what the library does with them is recorded.
        refused: codes of further findings of what this version refuses.
    """
    codes = tuple(dict.fromkeys(finding.code for finding in against))
    is_refused = not (_REFUSED | set(refused)).isdisjoint(codes)
    return Reading(loader, "refuses" if is_refused else "differs", "as the findings say", codes, source=source)
