"""CLAP: an audio and a text tower, each with a projection to a common width (arXiv:2211.06687)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import two_layers
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("clap",)  # transformers 5.23: modeling_clap.py
IGNORED = ("hidden_size", "num_hidden_layers")


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    return keys.composite(c, text, towers, heads=("Model",), out=c.int("projection_dim")).replace(tied=False)


def blueprint(s: Spec) -> Block:
    scale = Tensor((), component="other")
    return block(
        logit_scale_a=scale,
        logit_scale_t=scale,
        text_model=families.base(s),
        text_projection=two_layers(s.hidden, s.output),
        audio_model=families.tower(s, "audio"),
        audio_projection=two_layers(s.parts["audio"].hidden, s.output),
    )
