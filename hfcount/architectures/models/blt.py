"""BLT: a transformer over patches of bytes, between a local encoder and a local decoder (arXiv:2412.09871)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, embedding, gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tied, block

MODEL_TYPES = ("blt",)  # transformers 5.23: modeling_blt.py
IGNORED = tuple(
    "patch_size patching_mode patching_threshold patching_batch_size max_patch_length local_attention_window_len"
    " head_dim".split()
)

_NAMES = {"encoder": "local_encoder", "global": "global_transformer", "decoder": "local_decoder"}
_PARTS = {"encoder": "encoder_config", "global": "global_config", "decoder": "decoder_config"}


class Blt(Sizes):
    """The rows of the table that groups of bytes are looked up in."""

    hashes: int


def spec(c: Config) -> Spec[Blt]:
    parts = {name: families.part(c, key) for name, key in _PARTS.items()}
    if c.bool("patch_in_forward", default=True):
        parts["patcher"] = families.part(c, "patcher_config")
    elif c.has("patcher_config"):
        c.sub("patcher_config")  # there, and without effect
    # The reference derives this width, whatever the part says.
    joined, across = parts["encoder"].hidden * c.int("cross_attn_k", default=2), parts["global"]
    if isinstance(across.own, BltPart):
        inputs = joined if joined != across.hidden else 0
        parts["global"] = across.having(across.own.replace(encoder_cross_output_size=inputs))
    sizes = c.length("encoder_hash_byte_group_size") or 6
    functions = c.int("encoder_hash_byte_group_nb_functions", default=1)
    rows = keys.dim("n_h", c.int("encoder_hash_byte_group_vocab", default=500_002)) * functions * sizes
    decoder = parts["decoder"]
    model = keys.decoder_spec(
        c,
        decoder.layers,
        hidden=decoder.hidden,
        heads=("ForCausalLM", "Model"),
        layer_count=None,
        parts=parts,
    )
    model = model.replace(uncounted="how many bytes make a patch depends on the text")
    return model.having(Blt.read(c, hashes=rows))


def blueprint(s: Spec[Blt]) -> Block:
    parts = {_NAMES.get(name, name): families.tree(part) for name, part in s.parts.items()}
    inner, tied = s.part("encoder").hidden, s.tied and s.head == "causal_lm"
    if tied:
        own = s.part("encoder").vocab  # with other rows than the head it is stored, and never tied
        shared = Tied("lm_head.weight", (own, inner), "embedding")
        parts["local_encoder"] = altered(parts["local_encoder"], embed_tokens=shared)
    if "patcher" in parts:
        parts["patcher"] = Block(parts["patcher"].children, "other")
    body = block(**parts, encoder_hash_tok_embedding=embedding(s.own.hashes, inner))
    return body if s.head == "base" else block(model=body, lm_head=Linear(s.hidden, s.vocab, component="lm_head"))


_LOCAL = {"blt_local_encoder": False, "blt_local_decoder": True}  # whether all layers attend to patches, by default
_HEADS = keys.named(("Model",), Patcher="base", LocalEncoder="base", LocalDecoder="base", GlobalTransformer="base")


def _crossed(c: Config) -> int:
    everywhere = c.bool("cross_attn_all_layers", default=_LOCAL[c.family])
    return keys.layer_count(c) if everywhere else 1


class BltLocal(Sizes):
    """What attends to patches: how many layers do, how many vectors a patch is there, and its width outside."""

    crossed: int = derived(_crossed)
    cross_attn_k: int = size("k", absent=2)
    hidden_size_global: int = size("d_g", absent=2048)


class BltPart(Sizes):
    """Sizes specific to BLT's parts; 0 is no projection of what the encoder gives."""

    encoder_cross_output_size: int = size(absent=0, minimum=0)
    local: BltLocal | None = derived(lambda c: BltLocal.read(c) if c.family in _LOCAL else None)


def patcher_spec(c: Config) -> Spec[BltPart]:
    """BLT's parts: local encoder and decoder over bytes, a transformer over patches, a patcher (arXiv:2412.09871)."""
    d = c.int("hidden_size")
    given = 0 if c.is_null("intermediate_size") else c.int("intermediate_size", minimum=0)
    width = given or 8 * d // 3
    mixer = keys.attention(c, derived=True)
    layers = keys.uniform(Layer(mixer=mixer, ffn=Dense(width=width)), keys.layer_count(c))
    sizes = BltPart.read(c)
    words = 0 if c.family == "blt_global_transformer" else c.int("vocab_size")
    windows = keys.sliding_everywhere(c, default=512 if c.family == "blt_patcher" else None)
    model = keys.decoder_spec(c, layers, vocab=words, hidden=d, heads=_HEADS, windows=windows)
    return model.replace(uncounted="it runs only within a whole BLT").having(sizes)


def patcher_blueprint(s: Spec[BltPart]) -> Block:
    d, local = s.hidden, s.own.local

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))

    layers = stack(s.layers, layer_block)
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


PARTS = (
    families.Family(
        ("blt_patcher", "blt_local_encoder", "blt_local_decoder", "blt_global_transformer"),
        patcher_spec,
        patcher_blueprint,
        ignored=("head_dim",),
    ),
)
