"""RAG: an encoder of questions, whose answers a generator reads (arXiv:2005.11401)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import rebased
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("rag",)  # transformers 5.23: modeling_rag.py
IGNORED = tuple(
    "n_docs max_combined_length retrieval_vector_size retrieval_batch_size use_dummy_dataset reduce_loss"
    " label_smoothing do_deduplication exclude_bos_score do_marginalize output_retrieved vocab_size".split()
)

_FORMS = ("TokenForGeneration", "SequenceForGeneration")
_HEADS = keys.named(dict.fromkeys(_FORMS, "conditional_generation"), Model="base")
_PARTS = {"question_encoder": "dpr", "generator": "bart"}


def spec(c: Config) -> Spec:
    parts = {}
    for name, usual in _PARTS.items():
        given = c.part(name).str("model_type", default=usual)
        parts[name] = families.part(c, name, always=given)
    generator = parts["generator"]
    if parts["question_encoder"].family != "dpr":  # DPR's base model is its encoder of questions
        parts["question_encoder"] = parts["question_encoder"].replace(head="base")
    parts["generator"] = generator.replace(head="conditional_generation")
    return keys.decoder_spec(
        c.part("generator"),
        generator.layers,
        whole=c,
        heads=_HEADS,
        vocab=generator.vocab,
        hidden=generator.hidden,
        parts=parts,
        uncounted=keys.ACROSS,
    )


def blueprint(s: Spec) -> Block:
    prefix = "" if s.head == "base" else "rag."
    parts = {name: rebased(families.tree(part), f"{prefix}{name}") for name, part in s.parts.items()}
    return Block(parts) if s.head == "base" else Block({"rag": Block(parts)})
