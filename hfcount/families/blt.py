"""BLT: a transformer over patches of bytes, between a local encoder and a local decoder (arXiv:2412.09871)."""

from hfcount import families, keys
from hfcount.families.blt_patcher import BltPart
from hfcount.mapper import Config
from hfcount.parts import altered, embedding
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Linear, Tied, block

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
    whole = keys.decoder_spec(
        c,
        decoder.layers,
        hidden=decoder.hidden,
        heads=("ForCausalLM", "Model"),
        layer_count=None,
        parts=parts,
    )
    whole = whole.replace(uncounted="how many bytes make a patch depends on the text")
    return whole.having(Blt.read(c, hashes=rows))


def blueprint(s: Spec[Blt]) -> Block:
    parts = {_NAMES.get(name, name): families.tree(part) for name, part in s.parts.items()}
    inner, tied = s.parts["encoder"].hidden, s.tied and s.head == "causal_lm"
    if tied:
        shared = Tied("lm_head.weight", (s.vocab, inner), "embedding")
        parts["local_encoder"] = altered(parts["local_encoder"], embed_tokens=shared)
    if "patcher" in parts:
        parts["patcher"] = Block(parts["patcher"].children, "other")
    body = block(**parts, encoder_hash_tok_embedding=embedding(s.own.hashes, inner))
    return body if s.head == "base" else block(model=body, lm_head=Linear(s.hidden, s.vocab, component="lm_head"))
