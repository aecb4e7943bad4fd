"""HF124: turn end unannounced."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class TurnEndUnannounced(Finding):
    """The chat template ends turns with a token at which generation does not stop.

    Args:
        token: that token; `observed` is its id.
        announced: where ids are announced, and which.
    """

    code = "HF124"
    name = "turn-end-unannounced"
    level = "note"
    why = "The chat template was copied without generation_config.json, or that file is still the base model's."
    remedy = "Add the id to eos_token_id in generation_config.json, if the model was trained to end its turns with it."
    informational = True

    observed: int
    token: str
    announced: str

    @property
    def text(self) -> str:
        return (
            f"The chat template ends turns with {printable(self.token, 60)} (id {self.observed:,}), but generation does"
            f" not stop there: {self.announced}. generate of transformers 5.23 goes on after the answer."
        )
