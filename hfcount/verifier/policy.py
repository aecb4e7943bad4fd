"""The severity of findings, as --allow and --strict change it."""

from dataclasses import dataclass

from hfcount.verifier.rules import Rule, Severity


@dataclass(frozen=True, slots=True)
class Policy:
    """Which findings are errors: none in `allow`, and with `strict` every note that is not neutral."""

    allow: frozenset[str] = frozenset()
    strict: bool = False

    def severity(self, rule: Rule) -> Severity:
        """The severity of a rule's findings under this policy."""
        if rule.code in self.allow:
            return "note"
        return "error" if self.strict and not rule.neutral else rule.severity
