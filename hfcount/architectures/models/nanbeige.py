"""Nanbeige 4: LLaMA that may pass its layers several times (mlx-lm describes the plain form alone)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, pre_norm, swiglu
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("nanbeige",)  # nanbeige.py of ml-explore/mlx-lm 0.32.2
IGNORED = ("loop_loss_weights", "skip_loop_final_norm")


def spec(c: Config) -> Spec:
    for key in ("enable_double_loop_split", "loop_share_kv", "enable_depth_attention"):
        if c.bool(key, default=False):
            raise UnknownArchitecture(f"{c.where}: nanbeige is not described with {key}.")
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    layer = Layer(
        mixer=mixer,
        ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)),
        repeats=c.int("num_loops", default=1, minimum=1, maximum=1_000),
    )
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        network = swiglu(d, layer.dense.width, layer.dense.bias)
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network).replace(repeats=layer.repeats)

    return decoder(s, layer_block)
