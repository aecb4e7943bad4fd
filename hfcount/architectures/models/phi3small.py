"""Phi-3-small: fused projections with biases, a gated network, layer norms, and a tied head (arXiv:2404.14219)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, fused_qkv, layer_norm, stack, with_head
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block, buffer

MODEL_TYPES = ("phi3small",)  # modeling_phi3_small.py of microsoft/Phi-3-small-8k-instruct
IGNORED = tuple(
    "blocksparse_block_size blocksparse_num_local_blocks blocksparse_triton_kernel_block_size blocksparse_vert_stride "
    "dense_attention_every_n_layers dummy_token_indices ff_intermediate_size mup_use_scaling"
    " pad_sequence_to_multiple_of_64 rope_embedding_base".split()
)


def spec(c: Config) -> Spec:
    width = c.int("ff_intermediate_size", default=None)
    if width is None:
        width = c.int("intermediate_size")
    else:
        c.without_effect("gegelu_pad_to_256")  # which rounds what is computed
    layer = Layer(mixer=keys.attention(c, bias=True), ffn=Dense(width=width, bias=True))
    heads = ("ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification")
    return keys.decoder_spec(c, layer, tied=True, heads=heads)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        return block(
            self_attn=block(
                "attention",
                query_key_value=fused_qkv(d, a),
                dense=Linear(a.heads * a.head_dim, d, True),
                rotary_emb=block(inv_freq=buffer(a.head_dim // 2)),
            ),
            mlp=block("mlp", up_proj=Linear(d, 2 * width, True), down_proj=Linear(width, d, True)),
            input_layernorm=layer_norm(d),
            post_attention_layernorm=layer_norm(d),
        )

    table, layers = embedding(s.vocab, d), stack(s.layers, layer_block)
    return with_head(s, block(embed_tokens=table, layers=layers, final_layernorm=layer_norm(d)))
