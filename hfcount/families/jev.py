"""Jev: Qwen3.5's layers and a projection of the last state to the words that a decision may take."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("jev",)  # transformers 5.23: modeling_jev.py
IGNORED = ("offsets",)
SPELLINGS = {r"^weight$": "proj.weight"}


def spec(c: Config) -> Spec:
    inner = c.sub("text_config")
    # Releases have the config of the whole model that the layers were taken from.
    text = families.part(inner if inner and inner.sub("text_config") else c, "text_config")
    traits = {"hidden_size": keys.sized("d_v", c.int("hidden_size"))}
    traits["num_verbalizers"] = keys.sized("n_v", c.int("num_verbalizers"))
    heads = keys.named(ForDecision="reward")
    return keys.around(c, text, {}, heads=heads, traits=traits, causal=False).but(tied=False)


def blueprint(s: Spec) -> Block:
    words, width = s.traits["num_verbalizers"], s.traits["hidden_size"]
    bias = block("other", bias=Tensor((words,)))
    return block(model=families.base(s), proj=bias, weight=Tensor((words, width), component="other"))
