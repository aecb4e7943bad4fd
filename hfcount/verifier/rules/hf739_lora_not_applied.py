"""HF739: LoRA not applied."""

from hfcount.verifier.finding import Statement


class LoraNotApplied(Statement):
    """llama.cpp refuses a LoRA in GGUF, or ends once it computes with it, whatever the shapes of its tensors are."""

    code = "HF739"
    name = "lora-not-applied"
    level = "error"
    why = "It was made for another model, edited, or written by another tool than llama.cpp's own."
    remedy = "Convert the adapter again by convert_lora_to_gguf.py, with --base of the model that it was trained on."

    def _usual_fix(self) -> str | None:
        return self.remedy
