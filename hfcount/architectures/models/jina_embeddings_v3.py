"""Jina embeddings v3: XLM-R with rotary positions (arXiv:2409.10173)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import fused_attention
from hfcount.architectures.layers.conversions import qkv
from hfcount.architectures.layers.encoders import bert_embeddings, pooler, roberta_heads
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("jina_embeddings_v3",)  # transformers 5.23: modeling_jina_embeddings_v3.py
SPELLINGS = {
    r"encoder\.layers\.": "layers.",
    r"emb_ln\.": "embeddings.LayerNorm.",
    r"mixer\.out_proj\.": "self_attn.o_proj.",
    r"\.norm1\.": ".post_attention_layernorm.",
    r"\.norm2\.": ".post_mlp_layernorm.",
}
MERGED = {f"mixer.Wqkv.{end}": qkv("self_attn", end) for end in ("weight", "bias")}

_CLASSES = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
_HEADS = ("ForMaskedLM", "Model", *_CLASSES)


def spec(c: Config) -> Spec:
    d, types = c.int("hidden_size"), c.int("type_vocab_size")
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), indivisible="run", own_width=True)
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True))
    return keys.decoder_spec(c, layer, heads=_HEADS, tied=True, hidden=d, token_types=types).replace(causal=False)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        attention = fused_attention(d, layer.attention, "Wqkv", "out_proj")
        return block(mixer=attention, norm1=layer_norm(d), mlp=mlp(d, layer.dense.width), norm2=layer_norm(d))

    body = block(
        embeddings=bert_embeddings(s, norm=False),
        emb_ln=layer_norm(d),
        encoder=block(layers=stack(s.layers, layer_block)),
        pooler=pooler(s, heads=("base",)),
    )
    return roberta_heads(s, "roberta", body)
