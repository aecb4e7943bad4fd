"""GTE: a multilingual encoder with rotary positions and gated networks, for embeddings (arXiv:2407.19669)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, lm_head, stack
from hfcount.architectures.layers.classic import classifier, fused_attention, headed
from hfcount.architectures.layers.conversions import qkv
from hfcount.architectures.layers.encoders import bert_embeddings, pooler
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("gte",)  # transformers 5.23: modeling_gte.py
SPELLINGS = {
    r"^new\.": "",
    r"encoder\.layer\.": "layers.",
    r"\.attention\.": ".self_attn.",
    r"attn_ln\.": "post_attention_layernorm.",
    r"mlp_ln\.": "post_mlp_layernorm.",
    r"lm_head\.norm\.": "lm_head.layer_norm.",
}
MERGED = {
    **{f"attention.qkv_proj.{end}": qkv("self_attn", end) for end in ("weight", "bias")},
    "mlp.up_gate_proj.weight": ("mlp.up_proj.weight", "mlp.gate_proj.weight"),
}

_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification")


def spec(c: Config) -> Spec:
    d, types = c.int("hidden_size"), c.int("type_vocab_size", default=0, minimum=0)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), indivisible="run", own_width=True)
    layer = Layer(mixer=mixer, ffn=keys.dense(c))
    model = keys.decoder_spec(c, layer, heads=_HEADS, tied=True, hidden=d, token_types=types or None)
    return model.replace(causal=False)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        return block(
            attention=fused_attention(d, a, "qkv_proj", "o_proj"),
            attn_ln=layer_norm(d),
            mlp=block("mlp", up_gate_proj=Linear(d, 2 * width), down_proj=Linear(width, d, True)),
            mlp_ln=layer_norm(d),
        )

    pooled = pooler(s, heads=("sequence_classification",))
    body = block(embeddings=bert_embeddings(s), encoder=block(layer=stack(s.layers, layer_block)), pooler=pooled)
    decoder = lm_head(s, "gte.embeddings.word_embeddings.weight", True)
    words = block(lm_head=block("lm_head", dense=Linear(d, d, True), norm=layer_norm(d), decoder=decoder))
    labels = block(classifier=classifier(s))
    return headed(s, "gte", body, masked_lm=words, sequence_classification=labels, token_classification=labels)
