"""A.X K1: DeepSeek-V3's layers with a norm behind the experts (A.X K1 technical report)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import altered, decoder, mla, network, pre_norm, rms_norm, shared_moe
from hfcount.parts.conversions import packed
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.indices import Indices, intersection
from hfcount.tree.nodes import Block

MODEL_TYPES = ("axk1",)  # transformers 5.23: modeling_axk1.py
SPELLINGS = {r"post_mlp_layernorm\.": "mlp.post_mlp_layernorm."}
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.mla(c)
    first, rest = keys.dense_and_sparse(c, "first_k_dense_replace", default=1)
    step = c.int("moe_layer_freq", default=1, minimum=1, maximum=MAX_LAYERS)
    if step > 1 and isinstance(rest.base, range):
        every = Indices.below(keys.layer_count(c))
        rest = intersection(Indices.of(range(0, int(every.count), step)), rest)
        first = every.difference(rest)
    return keys.decoder_spec(c, keys.networks(c, (first, rest), lambda: keys.deepseek_moe(c), mixer))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        mlp = network(d, one, lambda m: shared_moe(d, m, balanced=True))
        last = rms_norm(d) if isinstance(one.ffn, MoE) else None
        return altered(pre_norm(d, self_attn=mla(d, one.latent), mlp=mlp), post_mlp_layernorm=last)

    return decoder(s, layer)
