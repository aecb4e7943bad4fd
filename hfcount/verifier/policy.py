"""The severity of findings, as --allow and --strict change it."""

from typing import NamedTuple

from hfcount.verifier.finding import Finding, Severity


class Policy(NamedTuple):
    """Which findings are errors: none in `allow`, and with `strict` every note that is not informational.

    Args:
        holding: codes of notes that are errors for the loaders that are asked for.
        elsewhere: codes of errors that hold for other loaders only.
    """

    allow: frozenset[str] = frozenset()
    strict: bool = False
    holding: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()

    def severity(self, finding: Finding) -> Severity:
        """The severity of a finding under this policy."""
        if finding.codes <= self.allow:
            return "note"
        if finding.codes <= self.elsewhere:
            return "note"
        if not finding.codes.isdisjoint(self.holding):
            return "error"
        return "error" if self.strict and not finding.informational else finding.severity

    def waives(self, finding: Finding) -> bool:
        """Whether a finding by itself keeps a checkpoint from being good, and is let through."""
        return finding.blocks and finding.codes <= self.allow
