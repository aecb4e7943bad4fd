"""BLT's parts: local encoder and decoder over bytes, a transformer over patches, a patcher (arXiv:2412.09871)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, embedding, gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block

# transformers 5.23: modeling_blt.py
MODEL_TYPES = ("blt_patcher", "blt_local_encoder", "blt_local_decoder", "blt_global_transformer")
IGNORED = ("head_dim",)

_LOCAL = {"blt_local_encoder": False, "blt_local_decoder": True}  # whether all layers attend to patches, by default
_HEADS = keys.named(("Model",), Patcher="base", LocalEncoder="base", LocalDecoder="base", GlobalTransformer="base")


def spec(c: Config) -> Spec:
    d, local = c.int("hidden_size"), c.family in _LOCAL
    given = 0 if c.is_null("intermediate_size") else c.int("intermediate_size", minimum=0)
    width = given or 8 * d // 3
    mixer = keys.attention(c, derived=True)
    layers = keys.alike(Layer(mixer=mixer, ffn=Dense(width=width)), keys.layer_count(c))
    traits = {"input": c.int("encoder_cross_output_size", default=0, minimum=0)}
    if local:
        everywhere = c.bool("cross_attn_all_layers", default=_LOCAL[c.family])
        traits |= {
            "cross_attn_k": keys.sized("k", c.int("cross_attn_k", default=2)),
            "hidden_size_global": keys.sized("d_g", c.int("hidden_size_global", default=2048)),
            "crossed": keys.layer_count(c) if everywhere else 1,
        }
    words = 0 if c.family == "blt_global_transformer" else c.int("vocab_size")
    windows = keys.sliding_everywhere(c, default=512 if c.family == "blt_patcher" else None)
    whole = keys.decoder_spec(c, layers, vocab=words, hidden=d, heads=_HEADS, traits=traits, windows=windows)
    return whole.but(uncounted="it runs only within a whole BLT")


def blueprint(s: Spec) -> Block:
    d, of, patcher = s.hidden, s.traits, s.family == "blt_patcher"

    def layer(one: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, one.attention), mlp=swiglu(d, one.dense.width))

    layers = stack(s.layers, layer)
    if s.family == "blt_global_transformer":
        return block(token_embedding_projection=Linear(of["input"], d) if of["input"] else None, layers=layers)
    if patcher:
        words = Linear(d, s.vocab, component="lm_head")
        return block(embed_tokens=embedding(s.vocab, d), layers=layers, norm=rms_norm(d), lm_head=words)
    decoding, norm = s.family == "blt_local_decoder", rms_norm(d)
    across = altered(gqa(d, s.layers[0].layer.attention), q_norm=norm, k_norm=norm, rotary_emb=None)
    return block(
        embed_tokens=None if decoding else embedding(s.vocab, d),
        layers=layers,
        cross_attn_layers=Repeat(Indices.below(of["crossed"]), across),
        patch_embedding_projection=Linear(of["hidden_size_global"] if decoding else d, d * of["cross_attn_k"]),
        norm=norm if decoding else None,
    )
