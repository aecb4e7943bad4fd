"""Fuyu: Persimmon that reads image patches through one projection (https://huggingface.co/adept/fuyu-8b)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import lm_head
from hfcount.architectures.layers.conversions import inside
from hfcount.architectures.models.persimmon import blueprint as persimmon
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("fuyu",)  # transformers 5.23: modeling_fuyu.py
SPELLINGS = inside("vision_embed_tokens")


def spec(c: Config) -> Spec:
    text = c.sub("text_config") or c.as_part("text_config")
    norms = text.bool("qk_layernorm", default=True)
    mixer = keys.multi_head(text, text.int("hidden_size"), text.int("num_attention_heads")).replace(qk_norm=norms)
    return keys.decoder_spec(
        text,
        Layer(mixer=mixer, ffn=keys.dense(text, bias=True)),
        whole=c,
        heads=("ForCausalLM", "Model"),
        patches=keys.patches(c),
    )


def blueprint(s: Spec) -> Block:
    head = None if s.head == "base" else lm_head(s, "language_model.model.embed_tokens.weight")
    return block(
        language_model=block(model=persimmon(s.replace(head="base")), lm_head=head),
        vision_embed_tokens=Linear(s.seen.pixels, s.hidden, bias=True, component="vision"),
    )
