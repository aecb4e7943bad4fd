"""Fuyu: Persimmon that reads image patches through one projection (https://huggingface.co/adept/fuyu-8b)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import lm_head
from hfcount.parts.layers import persimmon
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("fuyu",)


def spec(c: Config) -> Spec:
    text = c.sub("text_config") or c
    norms = text.bool("qk_layernorm", default=True)
    mixer = keys.attention(text, qkv_bias=True, out_bias=True, qk_norm=norms, kv_heads_optional=True)
    side, channels = c.int("patch_size", default=30), c.int("num_channels", default=3)
    return keys.decoder_spec(
        text,
        Layer(mixer=mixer, ffn=keys.dense(text, bias=True)),
        whole=c,
        heads=("ForCausalLM",),
        traits={"patch": side * side * channels},
    )


def blueprint(s: Spec) -> Block:
    head = lm_head(s, "language_model.model.embed_tokens.weight")
    return block(
        language_model=block(model=persimmon(s), lm_head=head),
        vision_embed_tokens=Linear(s.traits["patch"], s.hidden, bias=True, component="vision"),
    )
