"""MOSS-TTS: Qwen3 with a table and a head for each codebook of a sound, which are delayed (OpenMOSS/MOSS-TTS)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, count, derived
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tied, block

# moss_tts_delay/modeling_moss_tts.py and moss_tts_delay/configuration_moss_tts.py of OpenMOSS/MOSS-TTS
MODEL_TYPES = ("moss_tts_delay",)
CLASSES = ("MossTTSDelayModel",)
IGNORED = ("audio_pad_code", "sampling_rate", "hidden_size", "vocab_size")

_LOCAL = ("local_num_layers", "local_hidden_size", "local_ffn_hidden_size", "additional_mlp_ffn_hidden_size")


class MossTts(Sizes):
    """How many codebooks there are, and the rows of the table of each: its codes, and one to pad with."""

    books: int = count("n_q", "n_vq", absent=32)
    rows: int = derived(lambda c: keys.dim("|V_a|", c.int("audio_vocab_size", default=1024)) + 1)


def spec(c: Config) -> Spec[MossTts]:
    if local := next((key for key in _LOCAL if c.given(key)), None):
        message = f"{local} is of the models with a transformer for each step, which are not described."
        raise UnknownArchitecture(f"{c.where}: {message}")
    text = families.part(c, "language_config", always="qwen3").replace(head="base")
    known, tied = keys.named(("Model",)), c.bool("tie_word_embeddings", default=True)
    model = keys.composite(c, text, {}, key="language_config", heads=known)
    return model.replace(tied=tied).having(MossTts.read(c))


def blueprint(s: Spec[MossTts]) -> Block:
    d, of = s.hidden, s.own
    heads: tuple[Node, ...] = (
        Repeat(Indices.below(1), Linear(d, s.vocab, component="lm_head")),
        Repeat(Indices.span(1, of.books + 1), Linear(d, of.rows, component="lm_head")),
    )
    if s.tied:  # a list of heads is tied as a head would be, and none of them reads that
        heads += (Tied("language_model.embed_tokens.weight", (s.vocab, d), "lm_head"),)
    return block(
        language_model=families.base(s),
        emb_ext=Repeat(Indices.below(of.books), embedding(of.rows, d)),
        lm_heads=heads,
    )
