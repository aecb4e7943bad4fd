"""HF712: projector other width."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import LLAMA_CPP


class ProjectorOtherWidth(Finding):
    """A multimodal projector (mmproj) gives rows of another width than the model beside it takes.

    Args:
        model: the file of the model.
    """

    code = "HF712"
    name = "projector-other-width"
    level = "error"
    why = "The projector of another size of the same model."
    remedy = "Take the projector that was made with this model."

    expected: int
    observed: int
    key: str
    file: str
    model: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)} has {printable(self.key)} {self.observed:,}, and {printable(self.model)} takes"
            f" rows of {self.expected:,}: {LLAMA_CPP} refuses the pair."
        )
