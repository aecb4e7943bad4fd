"""HF124: turn end unannounced."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class TurnEndUnannounced(Finding):
    """The chat template ends turns with a token that is none of the ids at which generation ends.

    Args:
        token: that token; `observed` is its id.
        announced: where ids are announced, and which.
    """

    code = "HF124"
    name = "turn-end-unannounced"
    level = "note"
    why = "A template of a chat model was put beside the settings of its base, or the settings were not saved with it."
    remedy = "Add the id to eos_token_id in generation_config.json, if the model was trained to end its turns so."
    informational = True

    observed: int
    token: str
    announced: str

    @property
    def text(self) -> str:
        return (
            f"The chat template ends turns with {printable(self.token, 60)} ({self.observed:,}), at which generation"
            f" does not end: {self.announced}. generate of transformers 5.23 goes on behind the answer."
        )
