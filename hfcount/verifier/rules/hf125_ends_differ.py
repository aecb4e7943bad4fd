"""HF125: ends differ."""

from hfcount.verifier.finding import Finding


class EndsDiffer(Finding):
    """config.json, generation_config.json and the tokenizer name different tokens at which generation stops.

    Args:
        announced: where ids are announced, and which.
    """

    code = "HF125"
    name = "ends-differ"
    level = "note"
    why = "One of the files is that of the base, or was not saved after the tokenizer changed."
    remedy = "Set eos_token_id in all of them to the token that the model was trained to end with."
    informational = True

    announced: str

    @property
    def text(self) -> str:
        return (
            f"The end-of-sequence token is not the same everywhere: {self.announced}. generate of transformers 5.23"
            " stops at the ids in generation_config.json or, without that file, in config.json; vLLM 0.33 also at the"
            " tokenizer's."
        )
