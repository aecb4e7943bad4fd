"""Command A with experts: attention and feed-forward side by side behind one norm (Cohere model card)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, network, rms_norm, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("cohere2_moe",)  # transformers 5.23: modeling_cohere2_moe.py
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    places = keys.dense_and_sparse(c, "first_k_dense_replace", default=0)

    def sparse() -> MoE:
        ffn = keys.moe(c, "intermediate_size", shared=("num_shared_experts",))
        return ffn.replace(shared=ffn.shared or None)

    def near() -> Indices:
        """All but the last layer of each period; periods restart at the first layer with experts."""
        count, start = keys.layer_count(c), c.int("first_k_dense_replace", default=0, minimum=0, maximum=MAX_LAYERS)
        few = c.int("prefix_dense_sliding_window_pattern", default=1, maximum=MAX_LAYERS)
        many = c.int("sliding_window_pattern", default=4, maximum=MAX_LAYERS)
        return keys.other_than(c, range(few - 1, min(start, count), few), range(start + many - 1, count, many))

    dense = "prefix_dense_intermediate_size"
    width = dense if c.given(dense) else "intermediate_size"
    layers = keys.networks(c, places, sparse, mixer, width=width)
    return keys.decoder_spec(c, layers, tied=True, windows=keys.sliding(c, near, default=4096))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, layer.attention),
            mlp=network(d, layer, lambda m: shared_moe(d, m)),
        )

    return decoder(s, layer_block)
