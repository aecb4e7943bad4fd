"""MVP: BART that can learn prompts for its layers (arXiv:2206.12131)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.seq2seq import bart, side_prompt
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, Undescribed, block

MODEL_TYPES = ("mvp",)  # transformers 5.23: modeling_mvp.py

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM", "ForSequenceClassification", "ForQuestionAnswering")


class Mvp(Sizes):
    prompt_length: int
    prompt_mid_dim: int = size(absent=800)


def spec(c: Config) -> Spec[Mvp]:
    length = c.int("prompt_length", default=100) if c.bool("use_prompt", default=False) else 0
    own = Mvp.read(c, prompt_length=length)
    return keys.sequence_to_sequence(c, heads=_HEADS, offset=2).having(own)


def blueprint(s: Spec[Mvp]) -> Block:
    length, middle = s.own.prompt_length, s.own.prompt_mid_dim
    if not length or s.head == "causal_lm":
        return bart(s, first_norm=True, last_norm=False)
    prompt = side_prompt(s.hidden, length, middle, s.layers)
    both = block(self_attn_prompt=prompt, cross_attn_prompt=prompt)
    aside = block(self_attn_prompt=Undescribed("prompts of the encoder, which only some implementations build"))
    return bart(s, first_norm=True, last_norm=False, encoder=aside, decoder=both)
