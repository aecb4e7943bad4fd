"""IQuest-Coder that passes its layers twice, with gates that mix both passes (card of IQuest-Coder-V1-40B-Loop)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, pre_norm, swiglu, within
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, Tensor, block

# iquestloopcoder.py of ml-explore/mlx-lm 0.32.2, iquest_loopcoder.py of sgl-project/sglang 0.5.23 and of
# vllm-project/vllm 0.33
MODEL_TYPES = ("iquestloopcoder",)


def spec(c: Config) -> Spec:
    layer = Layer(
        mixer=keys.attention(c, bias=c.bool("attention_bias", default=False)),
        ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)),
        repeats=c.int("loop_num", default=2, minimum=1, maximum=1_000),
        later_window=c.int("loop_window_size", default=64, minimum=1, maximum=MAX_LAYERS),
    )
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d, a, passes = s.hidden, s.layers[0].layer.attention, s.layers[0].layer.repeats

    def layer_block(layer: Layer) -> Block:
        network = swiglu(d, layer.dense.width, layer.dense.bias)
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network).replace(repeats=layer.repeats)

    gate = block("attention", weight=Tensor((a.heads, a.head_dim)), bias=Tensor((a.heads,)))
    gates = Repeat(Indices.below(s.layers[0].indices.count), gate.replace(repeats=passes - 1))
    tree = decoder(s, layer_block)
    if s.head == "base":
        return altered(tree, gate_projections=gates)
    return within(tree, model=block(gate_projections=gates))
