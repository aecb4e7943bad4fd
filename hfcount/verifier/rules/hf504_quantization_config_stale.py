"""HF504: quantization config stale."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class QuantizationConfigStale(Finding):
    """The config says that weights are quantised and none is, or the reverse, or two files contradict each other."""

    code = "HF504"
    name = "quantization-config-stale"
    level = "error"
    why = "Weights that were dequantised or quantised later, with a config copied from before."
    remedy = (
        "Save the model again with the tool that quantised it, or copy quantization_config from what that tool wrote."
    )


class NothingPacked(QuantizationConfigStale):
    """A quantisation is announced and nothing is packed.

    Args:
        source: where it is announced; `expected` is what.
    """

    expected: str
    source: str

    @property
    def text(self) -> str:
        which = agree(
            self.count, "the one module that it quantises", f"none of the {self.count:,} modules that it quantises"
        )
        are = agree(self.count, "is not quantised and has no scale", "is quantised or has a scale")
        return f"{printable(self.source)} says {printable(self.expected)}, but {which} {are}: {some(self.names)}."


class Unannounced(QuantizationConfigStale):
    """Weights are packed and nothing announces it; `observed` is how."""

    observed: str

    @property
    def text(self) -> str:
        return (
            "config.json has no quantization_config, but the weights are quantised with"
            f" {printable(self.observed)}: a model built from this config has no such tensors."
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
        return f"{places}: the first says {printable(self.expected)}, the second {printable(self.observed)}."
