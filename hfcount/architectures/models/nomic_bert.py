"""Nomic BERT: BERT with rotary positions and gated networks, no biases in layers (arXiv:2402.01613)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import classifier, fused_attention, headed
from hfcount.architectures.layers.conversions import qkv
from hfcount.architectures.layers.encoders import decoder_over, pooler
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag, size
from hfcount.spec import GQA, Dense, Layer, Layers, MoE, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

# transformers 5.23: modeling_nomic_bert.py
# What its own code has besides, such as experts, is in modeling_hf_nomic_bert.py of nomic-ai/nomic-bert-2048.
MODEL_TYPES = ("nomic_bert",)
IGNORED = (
    *("dense_seq_output", "ffn_div", "fused_bias_fc", "max_trained_positions", "n_positions", "num_shared_experts"),
    "pad_vocab_size_multiple",
)
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

_MULTIPLE = 256  # of the width of gated networks in its own code
_CLASSES = ("ForSequenceClassification", "ForTokenClassification")
_HEADS = ("ForMaskedLM", "Model", *_CLASSES)


class NomicBert(Sizes):
    """What its own code has besides: networks without a gate, biases, and experts in some layers."""

    type_vocab_size: int = size()
    gated: bool
    mlp_fc1_bias: bool = flag(absent=False)
    mlp_fc2_bias: bool = flag(absent=False)


def spec(c: Config) -> Spec[NomicBert]:
    d, heads = c.int("hidden_size", "n_embd"), c.int("num_attention_heads", "n_head")
    width = c.int("head_dim", default=None) or keys.divides(c, "num_attention_heads", heads, "hidden_size", d)
    bias = c.bool("qkv_proj_bias", default=False)
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=width, qkv_bias=bias, out_bias=bias)
    depth, each = c.int("num_hidden_layers", "n_layer", maximum=MAX_LAYERS), c.int("intermediate_size", "n_inner")
    gated = c.str("activation_function", default="swiglu").endswith("glu")
    wide = each
    if gated and not c.given("intermediate_size") and each % _MULTIPLE:  # which its own code does not read
        rule = f"{{n_inner}}, rounded up to {_MULTIPLE}"
        wide = keys.derived_dim(c, "d_ff", round_up(int(each), _MULTIPLE), rule)
    step = c.int("moe_every_n_layers", default=0, minimum=0, maximum=MAX_LAYERS)
    routed = Indices.span(1, depth, step) if step > 1 and depth > 1 else Indices.below(0)
    layers = [Layers(indices=Indices.below(depth).difference(routed), layer=Layer(mixer=mixer, ffn=Dense(width=wide)))]
    if routed.count:
        experts = c.int("num_experts")
        active = keys.at_most(c, "moe_top_k", c.int("moe_top_k", default=1), experts)
        layers.append(
            Layers(indices=routed, layer=Layer(mixer=mixer, ffn=MoE(experts=experts, active=active, width=each)))
        )
    sizes = NomicBert.read(c, gated=gated)
    return keys.decoder_spec(c, layers, heads=_HEADS, tied=True, hidden=d).replace(causal=False).having(sizes)


def blueprint(s: Spec[NomicBert]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, first, second = layer.attention, s.own.mlp_fc1_bias, s.own.mlp_fc2_bias
        if isinstance(layer.ffn, MoE):
            network = _experts(d, layer.ffn)
        else:
            width = layer.dense.width
            up: dict[str, Node] = {
                name: Linear(d, width, first) for name in (("fc11", "fc12") if s.own.gated else ("fc1",))
            }
            network = Block({**up, "fc2": Linear(width, d, second)}, "mlp")
        attention = fused_attention(d, a, "Wqkv", "out_proj")
        return block(attn=attention, norm1=layer_norm(d), mlp=network, norm2=layer_norm(d))

    tables = block(word_embeddings=embedding(s.vocab, d), token_type_embeddings=embedding(s.own.type_vocab_size, d))
    pooled = pooler(s, heads=("sequence_classification",))
    encoder = block(layers=stack(s.layers, layer_block))
    body = block(embeddings=tables, emb_ln=layer_norm(d), encoder=encoder, pooler=pooled)
    transform = block(dense=Linear(d, d, True), layer_norm=layer_norm(d))
    decoder = decoder_over(s, "nomic_bert.embeddings.word_embeddings.weight")
    words = block(cls=block(predictions=Block({"transform": transform, **decoder.children}, "lm_head")))
    labels = block(classifier=classifier(s))
    return headed(s, "nomic_bert", body, masked_lm=words, sequence_classification=labels, token_classification=labels)


def _experts(d: int, m: MoE) -> Block:
    """Experts whose matrices lie one below the other: w1 and w2 (n·d_ff, d), and one bias for all that they give."""
    part = m.active, m.experts
    stacked = Tensor((m.experts * m.width, d), active=part)
    bias = Tensor((d,), component="experts")
    return block(
        router=block("router", layer=Linear(d, m.experts)),
        experts=Block({"mlp": block(w1=stacked, w2=stacked), "bias": bias}, "experts"),
    )
