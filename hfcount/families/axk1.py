"""A.X K1: DeepSeek-V3's layers with a norm behind the experts (A.X K1 technical report)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import decoder, mla, network, rms_norm, shared_moe
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.indices import Indices, intersection
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("axk1",)


def spec(c: Config) -> Spec:
    mixer = keys.mla(c)
    first, rest = keys.dense_and_sparse(c, "first_k_dense_replace", default=1)
    step = c.int("moe_layer_freq", default=1, maximum=MAX_LAYERS)
    if step > 1 and isinstance(rest.base, range):
        every = Indices.below(keys.layer_count(c))
        rest = intersection(Indices.of(range(0, int(every.count), step)), rest)
        first = every.difference(rest)
    return keys.decoder_spec(c, keys.networks(c, (first, rest), lambda: keys.deepseek_moe(c), mixer))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        ffn = one.ffn
        return block(
            input_layernorm=rms_norm(d),
            self_attn=mla(d, one.latent),
            post_attention_layernorm=rms_norm(d),
            mlp=network(d, one, lambda m: shared_moe(d, m, balanced=True)),
            post_mlp_layernorm=rms_norm(d) if isinstance(ffn, MoE) else None,
        )

    return decoder(s, layer)
