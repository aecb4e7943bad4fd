"""RemBERT: narrow input and wide output embeddings, which are not tied (arXiv:2010.12821)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.encoders import bert_embeddings, bert_heads, bert_layer, pooler
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("rembert",)  # transformers 5.23: modeling_rembert.py


class Rembert(Sizes):
    input_embedding_size: int = size()
    output_embedding_size: int = size()


def spec(c: Config) -> Spec[Rembert]:
    sizes = Rembert.read(c)
    return keys.encoder(c, heads=("ForCausalLM", *keys.ENCODER_HEADS), tied=False).having(sizes)


def blueprint(s: Spec[Rembert]) -> Block:
    d, narrow, wide = s.hidden, s.own.input_embedding_size, s.own.output_embedding_size
    into = Linear(narrow, d, True, "embedding")
    encoder = block(embedding_hidden_mapping_in=into, layer=stack(s.layers, lambda layer: bert_layer(d, layer)))
    body = block(embeddings=bert_embeddings(s, narrow), encoder=encoder, pooler=pooler(s))
    words = block(
        "lm_head", dense=Linear(d, wide, True), decoder=Linear(wide, s.vocab, True), LayerNorm=layer_norm(wide)
    )
    return bert_heads(s, "rembert", body, words)
