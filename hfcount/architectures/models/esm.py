"""ESM-1b and ESM-2: encoders of proteins, with positions from a table or rotary ones (doi:10.1126/science.ade2574)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.encoders import bert_heads, dense_classifier, pooler
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, obsolete

MODEL_TYPES = ("esm",)  # transformers 5.23: modeling_esm.py
IGNORED = ("token_dropout", "vocab_list")
RETYPED = {"esm": ("add_bias_fnn", None, "nucleotide_transformer")}  # as its own code writes it

_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification")


class Esm(Sizes):
    """Sizes specific to ESM; its positions may be rotary, absolute or neither, its networks gated."""

    gated: bool
    emb_layer_norm_before: bool = flag(absent=False)
    rotary: bool
    absolute: bool


def spec(c: Config) -> Spec[Esm]:
    kind = c.str("position_embedding_type", default="absolute")
    if c.bool("is_folding_model", default=False):
        raise c.error("not-described", "is_folding_model asks for ESMFold, which is not described.", "is_folding_model")
    sizes = Esm.read(c, gated=False, rotary=kind == "rotary", absolute=kind == "absolute")
    return keys.encoder(c, rotary=True, types=False, heads=_HEADS).having(sizes)


def blueprint(s: Spec[Esm]) -> Block:
    d, of, rows, norm = s.hidden, s.own, s.positions or 0, layer_norm(s.hidden)
    square = Linear(d, d, True)

    def frequencies(width: int) -> Block | None:
        return block(inv_freq=obsolete(width // 2)) if of.rotary else None

    def layer_block(layer: Layer) -> Block:
        # Norms come before attention and networks.
        rotary = frequencies(layer.attention.head_dim)
        projections = block("attention", query=square, key=square, value=square, rotary_embeddings=rotary)
        attention = block(self=projections, output=block("attention", dense=square), LayerNorm=norm)
        crossed = attention if layer.cross_attention else None
        width, bias = layer.dense.width, layer.dense.bias
        into = Linear(d, 2 * width if of.gated else width, bias)
        return block(
            attention=attention,
            crossattention=crossed,
            intermediate=block("mlp", dense=into),
            output=block("mlp", dense=Linear(width, d, bias)),
            LayerNorm=norm,
        )

    # Earlier versions of transformers stored a table whatever the kind of positions.
    embeddings = block(
        word_embeddings=embedding(s.vocab, d),
        position_embeddings=embedding(rows, d) if of.absolute else block(weight=obsolete(rows, d)),
        layer_norm=norm if of.emb_layer_norm_before else None,
        position_ids=obsolete(1, rows, whole=True),
    )
    counted = sum(part.indices.count for part in s.layers) * s.layers[0].layer.attention.heads
    turned = frequencies(s.layers[0].layer.attention.head_dim)
    # transformers 5 stores the frequencies of all layers under this one name.
    joined = Block({"*": block(attention=block(self=block(rotary_embeddings=turned)))})
    body = block(
        embeddings=embeddings,
        rotary_embeddings=turned,
        encoder=block(layer=(*stack(s.layers, layer_block), joined), emb_layer_norm_after=norm),
        pooler=pooler(s, ("base",)),
        contact_head=block("other", regression=Linear(counted, 1, True)),
    )
    words = block(
        "lm_head",
        dense=square,
        layer_norm=norm,
        bias=Tensor((s.vocab,)),
        decoder=lm_head(s, "esm.embeddings.word_embeddings.weight"),
    )
    two_layers = block(classifier=dense_classifier(s))
    return bert_heads(s, "esm", body, masked_lm=block(lm_head=words), sequence_classification=two_layers)
