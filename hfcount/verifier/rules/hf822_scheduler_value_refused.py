"""HF822: scheduler value refused."""

from typing import Any

from hfcount.text import printable, shown
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class SchedulerValueRefused(Finding):
    """scheduler_config.json has a value that the class of the scheduler refuses, or that of the pipeline.

    Args:
        kind: which class; key: the key of the config; value: what it has; taken: the values that the class takes.
    """

    code = "HF822"
    name = "scheduler-value-refused"
    level = "error"
    why = "A value of another scheduler or of another version, a misspelt one, or an edit by hand."
    remedy = "Set one of the values that the class takes."

    file: str
    kind: str
    key: str
    value: Any
    taken: tuple[str, ...]

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)} has {shown(self.value)} for {self.key}, but {printable(self.kind, 60)} takes only"
            f" {', '.join(self.taken)}: {DIFFUSERS} refuses it when the pipeline is loaded or run."
        )
