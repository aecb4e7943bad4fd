"""Falcon as it was first released: RefinedWeb is the architecture of 40B, RefinedWebModel that of 1B and 7B."""

from hfcount.architectures import keys
from hfcount.architectures.models.falcon import FalconLayer
from hfcount.architectures.models.falcon import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.dims import Dim

# modelling_RW.py of tiiuae/falcon-40b and of tiiuae/falcon-7b
MODEL_TYPES = ("RefinedWeb", "RefinedWebModel")
IGNORED = ("parallel_attn",)  # of RefinedWeb, whose layers are so in any case
CLASSES = ("RWForCausalLM",)


def spec(c: Config) -> Spec:
    d, heads, bias = c.int("hidden_size"), c.int("n_head", "num_attention_heads"), c.bool("bias", default=False)
    count = keys.layer_count(c, "n_layer", "num_hidden_layers")
    each = keys.multi_head(c, d, heads)
    if c.family == "RefinedWeb":
        kv_heads, norms = c.int("n_head_kv", default=heads), 2
    else:
        shared, parallel = c.bool("multi_query", default=False), c.bool("parallel_attn", default=False)
        kv_heads, norms = Dim.named("multi_query", 1, "multi_query") if shared else heads, 1 if parallel else 0
    keys.grouped(c, heads, kv_heads)
    layer = Layer(
        mixer=GQA(heads=heads, kv_heads=kv_heads, head_dim=each.head_dim, qkv_bias=bias, out_bias=bias),
        ffn=Dense(width=4 * d, bias=bias),
        own=FalconLayer(num_ln_in_parallel_attn=norms),
    )
    return keys.decoder_spec(c, keys.uniform(layer, count), hidden=d, tied=True)
