"""BLT's parts: local encoder and decoder over bytes, a transformer over patches, a patcher (arXiv:2412.09871)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, embedding, gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.spec import Dense, Layer, Sizes, Spec, size, told
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block

# transformers 5.23: modeling_blt.py
MODEL_TYPES = ("blt_patcher", "blt_local_encoder", "blt_local_decoder", "blt_global_transformer")
IGNORED = ("head_dim",)

_LOCAL = {"blt_local_encoder": False, "blt_local_decoder": True}  # whether all layers attend to patches, by default
_HEADS = keys.named(("Model",), Patcher="base", LocalEncoder="base", LocalDecoder="base", GlobalTransformer="base")


def _crossed(c: Config) -> int:
    everywhere = c.bool("cross_attn_all_layers", default=_LOCAL[c.family])
    return keys.layer_count(c) if everywhere else 1


class BltLocal(Sizes):
    """What attends to patches: how many layers do, how many vectors a patch is there, and its width outside."""

    crossed: int = told(_crossed)
    cross_attn_k: int = size("k", absent=2)
    hidden_size_global: int = size("d_g", absent=2048)


class BltPart(Sizes):
    """What BLT's parts alone have; 0 is no projection of what the encoder gives."""

    encoder_cross_output_size: int = size(absent=0, minimum=0)
    local: BltLocal | None = told(lambda c: BltLocal.read(c) if c.family in _LOCAL else None)


def spec(c: Config) -> Spec[BltPart]:
    d = c.int("hidden_size")
    given = 0 if c.is_null("intermediate_size") else c.int("intermediate_size", minimum=0)
    width = given or 8 * d // 3
    mixer = keys.attention(c, derived=True)
    layers = keys.uniform(Layer(mixer=mixer, ffn=Dense(width=width)), keys.layer_count(c))
    own = BltPart.read(c)
    words = 0 if c.family == "blt_global_transformer" else c.int("vocab_size")
    windows = keys.sliding_everywhere(c, default=512 if c.family == "blt_patcher" else None)
    whole = keys.decoder_spec(c, layers, vocab=words, hidden=d, heads=_HEADS, windows=windows)
    return whole.replace(uncounted="it runs only within a whole BLT").having(own)


def blueprint(s: Spec[BltPart]) -> Block:
    d, local = s.hidden, s.own.local

    def layer(one: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, one.attention), mlp=swiglu(d, one.dense.width))

    layers = stack(s.layers, layer)
    if s.family == "blt_global_transformer":
        inputs = s.own.encoder_cross_output_size
        return block(token_embedding_projection=Linear(inputs, d) if inputs else None, layers=layers)
    if local is None:
        words = Linear(d, s.vocab, component="lm_head")
        return block(embed_tokens=embedding(s.vocab, d), layers=layers, norm=rms_norm(d), lm_head=words)
    decoding, norm = s.family == "blt_local_decoder", rms_norm(d)
    across = altered(gqa(d, s.layers[0].layer.attention), q_norm=norm, k_norm=norm, rotary_emb=None)
    return block(
        embed_tokens=None if decoding else embedding(s.vocab, d),
        layers=layers,
        cross_attn_layers=Repeat(Indices.below(local.crossed), across),
        patch_embedding_projection=Linear(local.hidden_size_global if decoding else d, d * local.cross_attn_k),
        norm=norm if decoding else None,
    )
