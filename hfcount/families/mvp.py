"""MVP: BART that can learn prompts for its layers (arXiv:2206.12131)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.seq2seq import bart, side_prompt
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Undescribed, block

MODEL_TYPES = ("mvp",)  # transformers 5.23: modeling_mvp.py

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM", "ForSequenceClassification", "ForQuestionAnswering")


def spec(c: Config) -> Spec:
    length = c.int("prompt_length", default=100) if c.bool("use_prompt", default=False) else 0
    traits = {"prompt_length": length, "prompt_mid_dim": c.int("prompt_mid_dim", default=800)}
    return keys.sequence_to_sequence(c, heads=_HEADS, offset=2, traits=traits)


def blueprint(s: Spec) -> Block:
    length, middle = s.traits["prompt_length"], s.traits["prompt_mid_dim"]
    if not length or s.head == "causal_lm":
        return bart(s, first_norm=True, last_norm=False)
    prompt = side_prompt(s.hidden, length, middle, s.layers)
    both = block(self_attn_prompt=prompt, cross_attn_prompt=prompt)
    aside = block(self_attn_prompt=Undescribed("prompts of the encoder, which only some implementations build"))
    return bart(s, first_norm=True, last_norm=False, encoder=aside, decoder=both)
