"""dots3-note's language model: gated latent attention, of another shape in windows, and balanced experts."""

from hfcount import keys
from hfcount.keys.dots import dots_mixers
from hfcount.mapper import Config
from hfcount.parts import altered, decoder, indexer, mla, network, pre_norm, rms_norm, shared_moe
from hfcount.parts.conversions import packed
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.nodes import Block, Linear

MODEL_TYPES = ("dots3_note_text",)  # transformers 5.23: modeling_dots3_note.py
MERGED = packed()


def spec(c: Config) -> Spec:
    bias, mixers = c.bool("mlp_bias", default=False), dots_mixers(c)

    def experts() -> MoE:
        among = ("n_routed_experts", "num_local_experts", "num_experts")
        each = c.int("moe_shared_expert_intermediate_size", default=None) or c.int("shared_experts_intermediate_size")
        return keys.moe(c, "moe_intermediate_size", experts=among).but(
            shared=each * c.int("n_shared_experts"), bias=bias
        )

    networks = keys.networks(c, keys.dense_and_stepped(c), experts, bias=bias)
    size = keys.extent(c, "sliding_window", default=None) or keys.extent(c, "sliding_window_size", default=512)
    near = [part.indices for part in mixers if part.layer.traits["near"]]
    windows = tuple(window for indices in near if size for window in keys.within(indices, size))
    return keys.decoder_spec(c, keys.crossed(mixers, networks), heads=("ForCausalLM", "Model"), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a = one.latent
        attention = altered(
            mla(d, a),
            g_proj=Linear(d, a.heads),
            k_rope_only_layernorm=rms_norm(a.rope_dim),
            indexer=indexer(d, a) if a.index_heads else None,
        )
        return pre_norm(
            d, self_attn=attention, mlp=network(d, one, lambda m: shared_moe(d, m, balanced=True, bias=m.bias))
        )

    return decoder(s, layer)
