"""HF504: quantization config stale."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class QuantizationConfigStale(Finding):
    """The config announces a quantisation and nothing is packed, or the reverse, or two files contradict each other."""

    code = "HF504"
    name = "quantization-config-stale"
    level = "error"
    why = "Weights that were dequantised or quantised later, with a config copied from before."
    remedy = "Make the config match what is stored."


class NothingPacked(QuantizationConfigStale):
    """A quantisation is announced and nothing is packed.

    Args:
        source: where it is announced; `expected` is what.
    """

    expected: str
    source: str

    @property
    def text(self) -> str:
        modules = f"all {plural(self.count, 'module')} that it packs {agree(self.count, 'is', 'are')} stored dense"
        announces = f"{printable(self.source)} announces {printable(self.expected)}"
        return f"{announces}, and {modules}, with no scale beside any: {some(self.names)}."


class Unannounced(QuantizationConfigStale):
    """Weights are packed and nothing announces it; `observed` is how."""

    observed: str

    @property
    def text(self) -> str:
        return (
            "nothing announces a quantisation, and the weights are quantised with"
            f" {printable(self.observed)}: a model that is built by this config has no such tensors."
        )


class Contradiction(QuantizationConfigStale):
    """Two files contradict each other: `expected` is what the first announces, and `observed` the second.

    Args:
        source, other: the two places.
    """

    expected: str
    observed: str
    source: str
    other: str

    @property
    def text(self) -> str:
        places = f"{printable(self.source)} and {printable(self.other)} contradict each other"
        return f"{places}: {printable(self.expected)}, and {printable(self.observed)}."
