"""HF712: projector other width."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import LLAMA_CPP


class ProjectorOtherWidth(Finding):
    """A multimodal projector (mmproj) makes embeddings of another width than the model beside it reads.

    Args:
        model: the file of the model.
    """

    code = "HF712"
    name = "projector-other-width"
    level = "error"
    why = "The projector of another size of the same model."
    remedy = "Use the projector that was made for this model."

    expected: int
    observed: int
    key: str
    file: str
    model: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)} has {printable(self.key)} {self.observed:,}, but {printable(self.model)} needs"
            f" {self.expected:,}: {LLAMA_CPP} refuses the pair."
        )
