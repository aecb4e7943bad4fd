"""HF723: rank differs."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import PEFT
from hfcount.verifier.wording import agree, sides, some


class RankDiffers(Finding):
    """The tensors of an adapter have another rank than its settings say."""

    code = "HF723"
    name = "rank-differs"
    level = "error"
    why = "adapter_config.json is from another run, or rank_pattern was lost."
    remedy = "Set r or rank_pattern in adapter_config.json to the rank of the tensors."

    expected: tuple[int, ...]
    observed: tuple[int, ...]

    @property
    def text(self) -> str:
        return (
            f"{plural(self.count, 'tensor')} of the adapter {agree(self.count, 'has', 'have')} another rank than"
            f" adapter_config.json says, such as {some(self.names[:1])}: expected {sides(self.expected)}, stored"
            f" {sides(self.observed)}. {PEFT} refuses to load it."
        )
