"""SDAR with experts: Qwen3's, whose tokens see the others of their block (arXiv:2510.06303)."""

from hfcount.architectures import keys
from hfcount.architectures.models.qwen3_moe import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

# sdar_moe.py of sgl-project/sglang 0.5.23, whose names are those of JetLM/SDAR-30B-A3B-Chat
MODEL_TYPES = ("sdar_moe",)
IGNORED = ("block_size", "fuse_cross_entropy", "mlp_only_layers", "decoder_sparse_step", "intermediate_size")


def spec(c: Config) -> Spec:
    if c.int("decoder_sparse_step", default=1) != 1 or c.ints("mlp_only_layers", default=()):
        text = "SDAR is described with experts in every layer (decoder_sparse_step 1, no mlp_only_layers)."
        raise c.error("not-described", text, "decoder_sparse_step")
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True)
    layer = Layer(mixer=mixer, ffn=keys.moe(c, "moe_intermediate_size"))
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"))
