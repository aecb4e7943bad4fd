"""Medusa: heads that each draft a token further ahead from one state of the target (arXiv:2401.10774)."""

from hfcount.architectures import keys
from hfcount.architectures.components.drafts import Draft, Needs
from hfcount.mapper import Config, count, flag
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# medusa.py of vllm-project/vllm, and its transformers_utils/configs/medusa.py
MODEL_TYPES = ("medusa",)
CLASSES = ("MedusaModel",)
SPELLINGS = {r"^medusa_heads\.": ""}
IGNORED = ("max_paths", "topk", "max_seq_len", "medusa_choices")


class Medusa(Draft):
    truncated_vocab_size: int
    num_heads: int = count("n_h", "num_heads", absent=5)
    num_hidden_layers: int = count("n_l", "num_hidden_layers", absent=1)
    medusa_fc_bias: bool = flag(absent=False)
    original_lm_head: bool = flag(absent=False)

    def needs(self, s: Spec) -> Needs:
        """The requirements on its target."""
        return Needs(width=s.hidden, shared=())


def spec(c: Config) -> Spec[Medusa]:
    vocab = c.int("vocab_size", default=32001)
    known = c.int("truncated_vocab_size", default=None) or vocab
    if known > vocab:
        text = f"truncated_vocab_size {known:,} exceeds vocab_size {vocab:,}, of which it keeps some."
        c.cannot_run("out-of-range", text, "truncated_vocab_size", "Correct it.", observed=int(known))
    model = keys.decoder_spec(
        c, [], vocab=vocab, hidden=c.int("hidden_size", default=4096), layer_count=None, heads=("Model",)
    )
    sizes = Medusa.read(c, truncated_vocab_size=vocab if known == vocab else keys.dim("|V_t|", known))
    return model.replace(tied=False, uncounted="its heads read one state, and keep nothing").having(sizes)


def blueprint(s: Spec[Medusa]) -> Block:
    d, of = s.hidden, s.own
    linears = Repeat(Indices.below(of.num_hidden_layers), Linear(d, d, of.medusa_fc_bias, "mlp"))
    head = Linear(d, of.truncated_vocab_size, component="lm_head")
    heads = Repeat(Indices.below(1 if of.original_lm_head else of.num_heads), head)
    return block(
        blocks=Repeat(Indices.below(of.num_heads), block(layers=linears)),
        lm_heads=heads,
        token_map=_map(s),
    )


def _map(s: Spec[Medusa]) -> Tensor | None:
    """The words that it keeps, by their numbers."""
    known = s.own.truncated_vocab_size
    return None if int(known) == int(s.vocab) else Tensor((known,), "buffer", whole=True)
