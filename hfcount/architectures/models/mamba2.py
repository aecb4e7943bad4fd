"""Mamba-2: state spaces of many heads, in every layer (arXiv:2405.21060)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, rms_norm, stack, with_head
from hfcount.architectures.layers.mixers import mamba2
from hfcount.mapper import Config
from hfcount.spec import SSM, Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("mamba2",)  # transformers 5.23: modeling_mamba2.py


def spec(c: Config) -> Spec:
    inner, heads = keys.expanded(c, "expand"), c.int("num_heads")
    each = keys.divides(c, "num_heads", heads, "hidden_size · expand", inner)
    if (given := c.int("head_dim", default=each)) != each:
        text = f"head_dim is {given:,}, and {inner:,} / {heads:,} heads is {each:,}."
        raise c.error("not-divisible", text, "head_dim", "Correct one.")
    mixer = SSM(
        inner=inner,
        state=c.int("state_size"),
        kernel=c.int("conv_kernel"),
        heads=heads,
        groups=c.int("n_groups"),
        conv_bias=c.bool("use_conv_bias", default=True),
        bias=c.bool("use_bias", default=False),
    )
    return keys.decoder_spec(c, Layer(mixer=mixer), heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(norm=rms_norm(d), mixer=mamba2(d, layer.ssm))

    body = block(embeddings=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm_f=rms_norm(d))
    return with_head(s, body, prefix="backbone", table="embeddings")
