"""HF845: normalization dropped."""

from hfcount.fetcher.interface import PROCESSORS
from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import some

PREFIXES = ("normalize_inputs.", "normalize_targets.", "unnormalize_outputs.")
"""What the names of a policy's statistics begin with, as LeRobot before 0.4 saved them."""


class NormalizationDropped(Finding):
    """A LeRobot policy stores normalisation statistics for inputs and actions, which LeRobot 0.4 drops.

    Args:
        beside: whether the files that hold them since 0.4 are there, too.
    """

    code = "HF845"
    name = "normalization-dropped"
    level = "error"
    why = "The policy was saved by LeRobot before 0.4, which kept statistics among the weights."
    remedy = (
        "Convert it: `python -m lerobot.processor.migrate_policy_normalization --pretrained-path FOLDER` writes them to"
        " files of their own."
    )
    advises = False

    beside: bool

    @property
    def text(self) -> str:
        holds = f"the policy holds {plural(self.count, 'tensor')} of statistics ({some(self.names)}), which LeRobot"
        if self.beside:
            return f"{holds} drops since 0.4: it reads them from {' and '.join(PROCESSORS)}, which are here, too."
        return f"{holds} drops since 0.4 without a warning, so inputs and actions are not normalised."
