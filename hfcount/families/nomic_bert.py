"""Nomic BERT: BERT with rotary positions and gated networks, no biases in layers (arXiv:2402.01613)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import embedding, layer_norm, stack
from hfcount.parts.classic import classifier, fused_attention, headed
from hfcount.parts.conversions import qkv
from hfcount.parts.encoders import decoder_over, pooler
from hfcount.spec import GQA, Dense, Layer, Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("nomic_bert",)  # transformers 5.23: modeling_nomic_bert.py
SPELLINGS = {
    r"encoder\.layers\.": "layers.",
    r"emb_ln\.": "embeddings.LayerNorm.",
    r"\.attn\.out_proj\.": ".self_attn.o_proj.",
    r"\.fc11\.": ".up_proj.",
    r"\.fc12\.": ".gate_proj.",
    r"\.fc2\.": ".down_proj.",
    r"\.norm1\.": ".post_attention_layernorm.",
    r"\.norm2\.": ".post_mlp_layernorm.",
}
MERGED = {f"attn.Wqkv.{end}": qkv("self_attn", end) for end in ("weight", "bias")}

_CLASSES = ("ForSequenceClassification", "ForTokenClassification")
_HEADS = ("ForMaskedLM", "Model", *_CLASSES)


class NomicBert(Sizes):
    type_vocab_size: int = size()


def spec(c: Config) -> Spec[NomicBert]:
    d, heads = c.int("hidden_size", "n_embd"), c.int("num_attention_heads", "n_head")
    width = c.int("head_dim", default=None) or keys.divides(c, "num_attention_heads", heads, "hidden_size", d)
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=width)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size", "n_inner")))
    layers = keys.uniform(layer, c.int("num_hidden_layers", "n_layer", maximum=MAX_LAYERS))
    own = NomicBert.read(c)
    return keys.decoder_spec(c, layers, heads=_HEADS, tied=True, hidden=d).replace(causal=False).having(own)


def blueprint(s: Spec[NomicBert]) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a, width = one.attention, one.dense.width
        network = block("mlp", fc11=Linear(d, width), fc12=Linear(d, width), fc2=Linear(width, d))
        attention = fused_attention(d, a, "Wqkv", "out_proj")
        return block(attn=attention, norm1=layer_norm(d), mlp=network, norm2=layer_norm(d))

    tables = block(word_embeddings=embedding(s.vocab, d), token_type_embeddings=embedding(s.own.type_vocab_size, d))
    pooled = pooler(s, heads=("sequence_classification",))
    encoder = block(layers=stack(s.layers, layer))
    body = block(embeddings=tables, emb_ln=layer_norm(d), encoder=encoder, pooler=pooled)
    transform = block(dense=Linear(d, d, True), layer_norm=layer_norm(d))
    decoder = decoder_over(s, "nomic_bert.embeddings.word_embeddings.weight")
    words = block(cls=block(predictions=Block({"transform": transform, **decoder.children}, "lm_head")))
    labels = block(classifier=classifier(s))
    return headed(s, "nomic_bert", body, masked_lm=words, sequence_classification=labels, token_classification=labels)
