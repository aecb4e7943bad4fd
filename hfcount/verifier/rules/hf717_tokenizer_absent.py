"""HF717: tokenizer absent."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import LLAMA_CPP


class TokenizerAbsent(Finding):
    """A GGUF file of a language model holds no tokenizer, without which llama.cpp loads no model."""

    code = "HF717"
    name = "tokenizer-absent"
    level = "note"
    why = "The model was converted without its tokenizer, or by a program that keeps the tokenizer elsewhere."
    remedy = "Convert the model again, with the tokenizer's files in its folder."

    file: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)} holds no tokenizer (tokenizer.ggml.model): {LLAMA_CPP} refuses to load it. Its"
            " tensors were compared all the same, for programs that keep the tokenizer elsewhere."
        )
