"""FSMT: fairseq's translation models of WMT19, with a vocabulary for each language (arXiv:1907.06616)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, lm_head, stack
from hfcount.architectures.layers.seq2seq import bart_layer
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layers, Spec
from hfcount.spec.tree.nodes import Block, Node, Tied, block, buffer

MODEL_TYPES = ("fsmt",)  # transformers 5.23: modeling_fsmt.py
IGNORED = ("langs", "scale_embedding")


class Fsmt(Sizes):
    src_vocab_size: int = size("|V_s|")


def spec(c: Config) -> Spec[Fsmt]:
    sizes = Fsmt.read(c)
    words = c.int("tgt_vocab_size", "vocab_size")
    heads = ("ForConditionalGeneration", "Model")
    rows = c.int("max_position_embeddings") + c.int("pad_token_id", default=1, minimum=0) + 1
    model = keys.sequence_to_sequence(c, heads=heads, vocab=words, positions=rows)
    return model.replace(tied=c.bool("tie_word_embeddings", default=False)).having(sizes)


def blueprint(s: Spec[Fsmt]) -> Block:
    d, prefix = s.hidden, "" if s.head == "base" else "model."
    shared = f"{prefix}decoder.embed_tokens.weight"

    def side(layers: tuple[Layers, ...], crossed: bool, table: Node, head: Node | None = None) -> Block:
        blocks = stack(layers, lambda layer: bart_layer(d, layer, crossed))
        # Sines and cosines, which are stored all the same.
        places = block("embedding", weight=buffer(s.positions or 0, d))
        return block(embed_tokens=table, embed_positions=places, layers=blocks, output_projection=head)

    table = Tied(shared, (s.vocab, d)) if s.tied else embedding(s.own.src_vocab_size, d)
    body = block(
        encoder=side(s.stack("encoder"), False, table),
        decoder=side(s.layers, True, embedding(s.vocab, d), lm_head(s, shared)),
    )
    return body if s.head == "base" else block(model=body)
