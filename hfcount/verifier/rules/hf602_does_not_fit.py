"""HF602: does not fit."""

from hfcount.text import capacity, plural, rounded
from hfcount.verifier.finding import Finding


class DoesNotFit(Finding):
    """With --memory SIZE only: the weights and the cache that was asked for take more than that.

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
    why = "Each rank holds its share of the weights, and the cache of all sequences that it serves at once."
    remedy = "Take more memory or more ranks (--tp), fewer tokens (--context, --batch), or a quantised checkpoint."
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
        who = f"The share of each of {plural(self.ranks, 'rank')}" if self.ranks > 1 else "This model"
        cache = f" and {rounded(self.cache)} of cache for {self.load}" if self.cache else ""
        part = f", of which {self.engine} uses {rounded(self.expected)} ({self.setting})" if self.engine else ""
        return (
            f"{who} does not fit in {capacity(self.device)}{part}: {rounded(self.weights)} of weights{cache} are"
            f" {rounded(self.observed - self.expected)} too much."
        )
