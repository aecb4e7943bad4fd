"""The severity of findings, as --allow and --strict change it."""

from typing import NamedTuple

from hfcount.verifier.finding import Finding, Severity


class Policy(NamedTuple):
    """Which findings are errors: none in `allow`, and with `strict` every note that is not informational."""

    allow: frozenset[str] = frozenset()
    strict: bool = False

    def severity(self, finding: Finding) -> Severity:
        """The severity of a finding under this policy."""
        if finding.codes <= self.allow:
            return "note"
        return "error" if self.strict and not finding.informational else finding.severity

    def waives(self, finding: Finding) -> bool:
        """Whether a finding by itself keeps a checkpoint from being good, and is let through."""
        return finding.blocks and finding.codes <= self.allow
