"""ESM++: ESM C under the names of its first library, a norm before each projection (doi:10.1101/2024.07.01.600583)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.mapper import Config, Sizes
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, block

# models/esm_plusplus/modeling_esm_plusplus.py of Synthyra/FastPLMs
MODEL_TYPES = ("ESMplusplus",)
CLASSES = (
    *("ESMplusplusModel", "ESMplusplusForMaskedLM", "ESMplusplusForSequenceClassification"),
    "ESMplusplusForTokenClassification",
)
IGNORED = ("attn_backend",)

_ABSENT = {"vocab_size": 64, "hidden_size": 960, "num_attention_heads": 15, "num_hidden_layers": 30}
_STEP, _WIDER = 256, 4
_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification")


class EsmPlusPlus(Sizes):
    """How many ways of pooling a sequence's classifier reads."""

    pooled: int


def spec(c: Config) -> Spec[EsmPlusPlus]:
    c.assuming(_ABSENT)
    d = c.int("hidden_size")
    rule = f"8 · {{hidden_size}} / 3, rounded down, rounded up to {_STEP}"
    wide = keys.derived_dim(c, "d_ff", round_up(int(8 * int(d) / 3), _STEP), rule)
    attention = keys.multi_head(c, d, c.int("num_attention_heads"), bias=False)
    model = keys.decoder_spec(c, Layer(mixer=attention, ffn=Dense(width=wide)), hidden=d, heads=_HEADS)
    ways = c.strs("classifier_pooling_types") or ["mean", "var"]
    pooled = keys.dim("n_p", len(ways)) if model.head == "sequence_classification" else 1
    return model.replace(causal=False, tied=False).having(EsmPlusPlus(pooled=pooled))


def blueprint(s: Spec[EsmPlusPlus]) -> Block:
    d, bare = s.hidden, layer_norm(s.hidden, bias=False)

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        attention = block(
            "attention",
            layernorm_qkv=Block({"0": layer_norm(d), "1": Linear(d, 3 * d)}),
            out_proj=Linear(d, d),
            q_ln=bare,
            k_ln=bare,
        )
        network = Block({"0": layer_norm(d), "1": Linear(d, 2 * width), "3": Linear(width, d)}, "mlp")
        return block(attn=attention, ffn=network)

    labelled = s.head in ("sequence_classification", "token_classification")
    return block(
        embed=embedding(s.vocab, d),
        transformer=block(blocks=stack(s.layers, layer_block), norm=bare),
        sequence_head=_head(d, d, s.vocab, "lm_head"),
        classifier=_head(s.own.pooled * d, _WIDER * d, s.labels, "other") if labelled else None,
    )


def _head(inputs: int, inner: int, out: int, component: Component) -> Block:
    """Two projections with a norm between them."""
    parts: dict[str, Node] = {"0": Linear(inputs, inner, True), "2": layer_norm(inner), "3": Linear(inner, out, True)}
    return Block(parts, component)
