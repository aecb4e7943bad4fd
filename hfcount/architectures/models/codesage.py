"""CodeSage: an encoder of code with GPT-2's layers, whose tokens see all others (arXiv:2402.01935)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import classifier, conv1d, headed, positions
from hfcount.architectures.layers.model import lm_head
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, block

# modeling_codesage.py and config_codesage.py of codesage/codesage-small-v2
MODEL_TYPES = ("codesage",)
CLASSES = ("CodeSageModel", "CodeSageForMaskedLM", "CodeSageForSequenceClassification")

_ABSENT = {
    "vocab_size": 50257,
    "max_position_embeddings": 1024,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
}
_HEADS = ("Model", "ForMaskedLM", "ForSequenceClassification")


def spec(c: Config) -> Spec:
    c.assuming(_ABSENT)
    d = c.int("hidden_size")
    width = 4 * d if c.has("intermediate_size") and not c.given("intermediate_size") else None
    inner = c.int("intermediate_size", default=3072) if width is None else width
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=Dense(width=inner, bias=True))
    rows = c.int("max_position_embeddings")
    return keys.decoder_spec(c, layer, hidden=d, positions=rows, tied=True, heads=_HEADS).replace(causal=False)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        return block(
            ln_1=layer_norm(d),
            attn=block("attention", c_attn=conv1d(d, 3 * d), c_proj=conv1d(d, d)),
            ln_2=layer_norm(d),
            mlp=block("mlp", c_fc=conv1d(d, width), c_proj=conv1d(width, d)),
        )

    body = block(wte=embedding(s.vocab, d), wpe=positions(s), h=stack(s.layers, layer_block), ln_f=layer_norm(d))
    return headed(
        s,
        "transformer",
        body,
        masked_lm=block(lm_head=lm_head(s, "transformer.wte.weight")),
        sequence_classification=block(classifier=classifier(s)),
    )
