"""HF506: expert scales fused."""

from hfcount.mapper.loader_differences import NEWER
from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class ExpertScalesFused(Finding):
    """The scales of a layer's experts are fused into one tensor, while the weights are split."""

    code = "HF506"
    name = "expert-scales-fused"
    level = "note"
    why = f"{NEWER} splits the expert weights when it saves a mixture of experts in FP8, but not their scales."
    remedy = "Split the scales, one for each weight, as other tools write them."
    divides = True

    @property
    def text(self) -> str:
        many = f"{plural(self.count, 'tensor')} {agree(self.count, 'has', 'have')}"
        return (
            f"{many} the scales of all experts of a layer, but the weights are stored one tensor for each expert:"
            f" {some(self.names)}. {NEWER} saves and loads mixtures of experts this way."
        )
