"""HF726: target unmatched."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import PEFT
from hfcount.verifier.wording import agree, listed


class TargetUnmatched(Finding):
    """adapter_config.json names modules that the base does not have.

    Args:
        absent: the names.
    """

    code = "HF726"
    name = "target-unmatched"
    level = "note"
    why = "The list was written for several architectures, or a name is misspelt."
    remedy = f"Check that the modules you wanted to train are among the other names: {PEFT} gives no warning."

    absent: tuple[str, ...]

    @property
    def text(self) -> str:
        return (
            f"{plural(self.count, 'name')} in adapter_config.json {agree(self.count, 'matches', 'match')} no module"
            f" of the base: {listed(self.absent[:3])}."
        )
