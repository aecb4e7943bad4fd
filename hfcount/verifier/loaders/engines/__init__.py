"""Says what vLLM and SGLang make of checkpoints, by what their sources say."""
