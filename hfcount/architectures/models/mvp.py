"""MVP: BART that can learn prompts for its layers (arXiv:2206.12131)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.model import embedding
from hfcount.architectures.layers.seq2seq import bart
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layers, Spec
from hfcount.spec.tree.nodes import Block, Linear, Undescribed, block

MODEL_TYPES = ("mvp",)  # transformers 5.23: modeling_mvp.py

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM", "ForSequenceClassification", "ForQuestionAnswering")


class Mvp(Sizes):
    prompt_length: int
    prompt_mid_dim: int = size(absent=800)


def spec(c: Config) -> Spec[Mvp]:
    length = c.int("prompt_length", default=100) if c.bool("use_prompt", default=False) else 0
    sizes = Mvp.read(c, prompt_length=length)
    return keys.sequence_to_sequence(c, heads=_HEADS, offset=2).having(sizes)


def blueprint(s: Spec[Mvp]) -> Block:
    length, middle = s.own.prompt_length, s.own.prompt_mid_dim
    if not length or s.head == "causal_lm":
        return bart(s, first_norm=True, last_norm=False)
    prompt = _side_prompt(s.hidden, length, middle, s.layers)
    both = block(self_attn_prompt=prompt, cross_attn_prompt=prompt)
    aside = block(self_attn_prompt=Undescribed("prompts of the encoder, which only some implementations build"))
    return bart(s, first_norm=True, last_norm=False, encoder=aside, decoder=both)


def _side_prompt(d: int, length: int, middle: int, layers: tuple[Layers, ...]) -> Block:
    """Prompts that the encoder or decoder of MVP learns for its layers (arXiv:2206.12131).

    Tensors: prompt_embedding (length, d), prompt_trans.0 (middle, d), prompt_trans.2 (2·N·d, middle), with biases.
    """
    count = sum(part.indices.count for part in layers)
    trans = Block({"0": Linear(d, middle, True), "2": Linear(middle, count * 2 * d, True)})
    return block("other", prompt_embedding=embedding(length, d), prompt_trans=trans)
