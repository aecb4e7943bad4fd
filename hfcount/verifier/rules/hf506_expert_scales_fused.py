"""HF506: expert scales fused."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class ExpertScalesFused(Finding):
    """The scales of a layer's experts are fused into one tensor, while the weights are split."""

    code = "HF506"
    name = "expert-scales-fused"
    level = "note"
    why = "transformers 5 splits the expert weights when it saves a mixture of experts in FP8, but not their scales."
    remedy = "Split the scales, one for each weight, for other loaders."
    divides = True

    @property
    def text(self) -> str:
        many = f"{plural(self.count, 'tensor')} {agree(self.count, 'has', 'have')}"
        return (
            f"{many} the scales of all experts of a layer, and the weights that they belong to have other names:"
            f" {some(self.names)}. transformers 5 saves mixtures so and loads them; vLLM, SGLang and others look for a"
            " scale beside each weight."
        )
