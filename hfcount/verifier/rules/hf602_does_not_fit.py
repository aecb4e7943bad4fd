"""HF602: does not fit."""

from hfcount.text import capacity, rounded
from hfcount.verifier.finding import Finding


class DoesNotFit(Finding):
    """With --memory SIZE only: the weights and the KV cache that was asked for need more than that.

    Args:
        device: bytes of each device, of which `expected` are the engine's.
        engine: whose share of the device it has to fit in; empty for all of it.
        setting: the engine's setting of that share.
        ranks: ranks that share the model; 1 if it is not shared.
        weights: bytes of the weights, of one rank.
        cache: bytes of the cache, of one rank.
        load: for how many tokens that is.
    """

    code = "HF602"
    name = "does-not-fit"
    level = "error"
    why = "Each GPU holds its share of the weights, and the KV cache of all sequences that it serves at once."
    remedy = "Use more memory or more GPUs (--tp), fewer tokens (--context, --batch), or a quantised checkpoint."
    of_serving = True

    expected: int
    observed: int
    device: int
    ranks: int
    weights: int
    cache: int
    load: str
    engine: str = ""
    setting: str = ""

    @property
    def text(self) -> str:
        who = f"Shared by {self.ranks:,} GPUs, this model" if self.ranks > 1 else "This model"
        part = f", of which {self.engine} uses {rounded(self.expected)} ({self.setting})" if self.engine else ""
        each = "each GPU needs" if self.ranks > 1 else "it needs"
        cache = f" + {rounded(self.cache)} cache for {self.load}" if self.cache else ""
        return (
            f"{who} does not fit in {capacity(self.device)}{part}: {each} {rounded(self.observed)}"
            f" ({rounded(self.weights)} weights{cache}), {rounded(self.observed - self.expected)} too much."
        )
