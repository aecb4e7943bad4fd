"""Mamba and Falcon Mamba: state spaces alone, in every layer (arXiv:2312.00752, arXiv:2410.05355)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, rms_norm, stack, with_head
from hfcount.architectures.layers.mixers import mamba
from hfcount.mapper import Config
from hfcount.spec import SSM, Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("mamba", "falcon_mamba")  # transformers 5.23: modeling_mamba.py, modeling_falcon_mamba.py


def spec(c: Config) -> Spec:
    mixer = SSM(
        inner=c.int("intermediate_size", default=None) or keys.expanded(c, "expand"),
        state=c.int("state_size"),
        kernel=c.int("conv_kernel"),
        step_rank=keys.step_rank(c, "time_step_rank"),
        conv_bias=c.bool("use_conv_bias", default=True),
        bias=c.bool("use_bias", default=False),
    )
    return keys.decoder_spec(c, Layer(mixer=mixer), tied=True, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(norm=rms_norm(d), mixer=mamba(d, layer.ssm))

    body = block(embeddings=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm_f=rms_norm(d))
    return with_head(s, body, prefix="backbone", table="embeddings")
