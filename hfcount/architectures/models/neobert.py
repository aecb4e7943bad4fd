"""NeoBERT: an encoder with rotary positions, norms before its layers, and gated networks (arXiv:2502.19587)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, rms_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# model.py of chandar-lab/NeoBERT
MODEL_TYPES = ("neobert",)
CLASSES = ("NeoBERT", "NeoBERTLMHead", "NeoBERTForSequenceClassification")
IGNORED = ("classifier_init_range", "decoder_init_range", "dim_head", "embedding_init_range")

_ABSENT = {
    "vocab_size": 30522,
    "hidden_size": 768,
    "num_hidden_layers": 28,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
}
_HEADS = keys.named(("ForSequenceClassification",), LMHead="masked_lm", BERT="base")
_MULTIPLE = 8


def spec(c: Config) -> Spec:
    c.assuming(_ABSENT)
    d, wide = c.int("hidden_size"), c.int("intermediate_size")
    rule = f"2 · {{intermediate_size}} / 3, rounded down, rounded up to {_MULTIPLE}"
    inner = keys.derived_dim(c, "d_ff", -(-(2 * int(wide) // 3) // _MULTIPLE) * _MULTIPLE, rule)
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads"), bias=False), ffn=Dense(width=inner))
    return keys.decoder_spec(c, layer, hidden=d, heads=_HEADS).replace(causal=False, tied=False)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        wide = layer.dense.width
        return block(
            qkv=Linear(d, 3 * d, component="attention"),
            wo=Linear(d, d, component="attention"),
            ffn=block("mlp", w12=Linear(d, 2 * wide), w3=Linear(wide, d)),
            attention_norm=rms_norm(d),
            ffn_norm=rms_norm(d),
        )

    body = block(
        encoder=embedding(s.vocab, d),
        transformer_encoder=stack(s.layers, layer_block),
        layer_norm=rms_norm(d),
    )
    return headed(
        s,
        "model",
        body,
        masked_lm=block(decoder=Linear(d, s.vocab, True, "lm_head")),
        sequence_classification=block(dense=Linear(d, d, True, "other"), classifier=classifier(s)),
    )
