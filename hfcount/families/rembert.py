"""RemBERT: narrow input and wide output embeddings, which are not tied (arXiv:2010.12821)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.encoders import bert_embeddings, bert_heads, bert_layer, pooler
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("rembert",)  # transformers 5.23: modeling_rembert.py


def spec(c: Config) -> Spec:
    sizes = {name: c.int(name) for name in ("input_embedding_size", "output_embedding_size")}
    return keys.encoder(c, heads=("ForCausalLM", *keys.ENCODER_HEADS), tied=False, traits=sizes)


def blueprint(s: Spec) -> Block:
    d, narrow, wide = s.hidden, s.traits["input_embedding_size"], s.traits["output_embedding_size"]
    into = Linear(narrow, d, True, "embedding")
    encoder = block(embedding_hidden_mapping_in=into, layer=stack(s.layers, lambda one: bert_layer(d, one)))
    body = block(embeddings=bert_embeddings(s, narrow), encoder=encoder, pooler=pooler(s))
    words = block(
        "lm_head", dense=Linear(d, wide, True), decoder=Linear(wide, s.vocab, True), LayerNorm=layer_norm(wide)
    )
    return bert_heads(s, "rembert", body, words)
