"""Chameleon: Llama with normalised queries and keys, whose vocabulary also has images' codes (arXiv:2405.09818)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import altered, base, gqa, pre_norm, swiglu, with_head
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("chameleon",)  # transformers 5.23: modeling_chameleon.py
IGNORED = ("model_parallel_size", "swin_norm", "vocabulary_map")


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, bias=bias, derived=True, indivisible="refused")
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    parts, heads = {"vision": families.part(c, "vq_config")}, ("ForConditionalGeneration", "Model")
    return keys.decoder_spec(c, layer, heads=heads, parts=parts)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def norm(heads: int, width: int) -> Block:
        """Each head has a norm of its own."""
        return block("norm", weight=Tensor((heads, width)), bias=Tensor((heads, width)))

    def layer(one: Layer) -> Block:
        a, of = one.attention, one.dense
        own = altered(gqa(d, a), q_norm=norm(a.heads, a.head_dim), k_norm=norm(a.kv_heads, a.head_dim))
        return pre_norm(d, self_attn=own, mlp=swiglu(d, of.width, of.bias))

    body = Block({**base(s, layer).children, "vqmodel": families.tower(s, "vision")})
    return with_head(s, body)
