"""Jev: Qwen3.5's layers and a projection of the last state to the words that a decision may take."""

from hfcount.architectures import families, keys
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("jev",)  # transformers 5.23: modeling_jev.py
IGNORED = ("offsets",)
SPELLINGS = {r"^weight$": "proj.weight"}


class Jev(Sizes):
    hidden_size: int = size("d_v")
    num_verbalizers: int = size("n_v")


def spec(c: Config) -> Spec[Jev]:
    inner = c.sub("text_config")
    # Releases have the config of the whole model that the layers were taken from.
    text = families.part(inner if inner and inner.sub("text_config") else c, "text_config")
    sizes = Jev.read(c)
    heads = keys.named(ForDecision="reward")
    return keys.composite(c, text, {}, heads=heads, causal=False).replace(tied=False).having(sizes)


def blueprint(s: Spec[Jev]) -> Block:
    words, width = s.own.num_verbalizers, s.own.hidden_size
    bias = block("other", bias=Tensor((words,)))
    return block(model=families.base(s), proj=bias, weight=Tensor((words, width), component="other"))
