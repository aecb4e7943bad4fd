"""IQuest-Coder that passes its layers twice, with gates that mix both passes (card of IQuest-Coder-V1-40B-Loop)."""

from hfcount import keys
from hfcount.families.llama import blueprint as plain
from hfcount.mapper import Config
from hfcount.parts import altered, within
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, Tensor, block

# iquestloopcoder.py of ml-explore/mlx-lm 0.32.2, iquest_loopcoder.py of sgl-project/sglang 0.5.23
MODEL_TYPES = ("iquestloopcoder",)
IGNORED = ("loop_num", "loop_window_size")


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    why = "it passes its layers several times, and each pass keeps keys and values of its own"
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"), uncounted=why)


def blueprint(s: Spec) -> Block:
    a = s.layers[0].layer.attention
    gate = block("attention", weight=Tensor((a.heads, a.head_dim)), bias=Tensor((a.heads,)))
    gates = Repeat(Indices.below(s.layers[0].indices.count), gate)
    tree = plain(s)
    if s.head == "base":
        return altered(tree, gate_projections=gates)
    return within(tree, model=block(gate_projections=gates))
