"""The severity of findings, as --allow, --strict and a settings file change it."""

from typing import TYPE_CHECKING, NamedTuple

from hfcount.verifier.finding import Finding, Severity

if TYPE_CHECKING:
    from hfcount.verifier.waivers import Waiver  # few runs have any


class Policy(NamedTuple):
    """Which findings are errors: none in `allow`, and with `strict` every note that is not informational.

    Args:
        waivers: those of a settings file that count today, which let through as `allow` does.
        holding: codes of notes that are errors for the loaders that are asked for.
        elsewhere: codes of errors that hold for other loaders only.
    """

    allow: frozenset[str] = frozenset()
    strict: bool = False
    waivers: "tuple[Waiver, ...]" = ()
    holding: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()

    def severity(self, finding: Finding) -> Severity:
        """The severity of a finding under this policy."""
        if self._lets_through(finding):
            return "note"
        if finding.codes <= self.elsewhere:
            return "note"
        if not finding.codes.isdisjoint(self.holding):
            return "error"
        return "error" if self.strict and not finding.informational else finding.severity

    def waives(self, finding: Finding) -> bool:
        """Whether a finding by itself keeps a checkpoint from being good, and is let through."""
        return finding.blocks and self._lets_through(finding)

    def waiver_for(self, finding: Finding) -> "Waiver | None":
        """The waiver without which a finding would be an error, or keep a checkpoint from being good."""
        if not self.waivers or finding.codes <= self.allow or not self._lets_through(finding):
            return None
        if not finding.blocks and self._replace(waivers=()).severity(finding) != "error":
            return None
        return next(waiver for waiver in self.waivers for part in (finding, *finding.joined) if waiver.covers(part))

    def _lets_through(self, finding: Finding) -> bool:
        """Whether a finding, and each that is reported with it, is let through."""
        if not self.waivers or finding.codes <= self.allow:
            return finding.codes <= self.allow
        return all(
            different.code in self.allow or any(waiver.covers(different) for waiver in self.waivers)
            for different in (finding, *finding.joined)
        )
