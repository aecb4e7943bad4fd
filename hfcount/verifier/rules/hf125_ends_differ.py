"""HF125: ends differ."""

from hfcount.verifier.finding import Finding


class EndsDiffer(Finding):
    """The config, the generation config and the tokenizer name other tokens at which generation ends.

    Args:
        announced: where ids are announced, and which.
    """

    code = "HF125"
    name = "ends-differ"
    level = "note"
    why = "One of the files is that of the base, or was not saved after the tokenizer changed."
    remedy = "Let eos_token_id name the token that the model was trained to end with."
    informational = True

    announced: str

    @property
    def text(self) -> str:
        return (
            f"The eos is not the same everywhere: {self.announced}. generate of transformers 5.23 ends at the ids of"
            " generation_config.json or, without that file, of config.json; vLLM 0.33 at the tokenizer's, too."
        )
