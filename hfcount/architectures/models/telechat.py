"""TeleChat: Llama with keys and values in one projection, and biases in the output projections (arXiv:2401.03804)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, pre_norm, rms_norm, stack, with_head
from hfcount.mapper import Config, Sizes
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# modeling_telechat.py of Tele-AI/TeleChat-12B, modeling_telechat2.py of Tele-AI/TeleChat2-7B, telechat2.py of
# vllm-project/vllm 0.33
MODEL_TYPES = ("telechat",)
CLASSES = ("TeleChat2ForCausalLM",)
IGNORED = ("base_seqlen", "flash_attn", "masked_softmax_fusion", "offset_alibi", "skip_bias_add", "training_seqlen")


class Telechat(Sizes):
    embed_layernorm: int


def spec(c: Config) -> Spec[Telechat]:
    hidden = c.int("hidden_size", "n_embed")
    heads = c.int("n_head", "num_attention_heads")
    shared = c.int("num_key_value_heads", default=None, minimum=0) or heads  # which TeleChat 2's code reads
    keys.grouped(c, heads, shared)
    mixer = keys.multi_head(c, hidden, heads, qkv_bias=False).replace(kv_heads=shared)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("ffn_hidden_size")))
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers"))
    sizes = Telechat.read(c, embed_layernorm=int(c.bool("embed_layernorm", default=False)))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), hidden=hidden).having(sizes)


def blueprint(s: Spec[Telechat]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        inner = a.heads * a.head_dim
        attention = block(
            "attention",
            query=Linear(d, inner),
            key_value=Linear(d, 2 * a.kv_heads * a.head_dim),
            dense=Linear(inner, d, bias=True),
        )
        network = block(
            "mlp", gate_proj=Linear(d, width), up_proj=Linear(d, width), down_proj=Linear(width, d, bias=True)
        )
        return pre_norm(d, self_attention=attention, mlp=network)

    body = block(
        word_embeddings=embedding(s.vocab, d),
        word_embeddings_layernorm=rms_norm(d) if s.own.embed_layernorm else None,
        h=stack(s.layers, layer_block),
        ln_f=rms_norm(d),
    )
    return with_head(s, body, prefix="transformer", table="word_embeddings")
