"""Hunyuan 4: gated latent attention with sinks to tokens that an indexer selects, residual streams."""

from hfcount.architectures.components.hy_v4 import RELEASED, HyV4, body, hy_v4_spec, last_mixing
from hfcount.architectures.layers import altered, with_head
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("hy_v4",)  # transformers 5.23: modeling_hy_v4.py
SPELLINGS = RELEASED


def spec(c: Config) -> Spec[HyV4]:
    return hy_v4_spec(c)


def blueprint(s: Spec[HyV4]) -> Block:
    join = last_mixing(s)
    last = {"hc_head": block(hc_pre=join)} if s.head == "base" else {"hc_pre": block(hc_head=join)}
    return with_head(s, altered(body(s), **last))
