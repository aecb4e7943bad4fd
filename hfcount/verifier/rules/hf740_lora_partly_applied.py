"""HF740: LoRA partly applied."""

from hfcount.verifier.finding import Statement


class LoraPartlyApplied(Statement):
    """llama.cpp loads a LoRA in GGUF, but leaves out or guesses a part of what was trained."""

    code = "HF740"
    name = "lora-partly-applied"
    level = "note"
    why = "It was extracted from a merged model, which also has other norms, or its metadata was edited."
    remedy = "Convert the merged model instead, where that part matters."
    advises = False
